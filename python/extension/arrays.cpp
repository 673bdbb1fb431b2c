#include "arrays.h"

#include <ATen/core/ivalue.h>

#include <cstring>
#include <string>

#include "interpreter/common/reference.h"

namespace multipy::host {
namespace {

// bool, integers, and floating-point numbers that both Pythons name alike. (_inside.py has the
// same.)
constexpr const char* kFormats = "?bBhHiIlLqQefd";

// An array of an interpreter's as its answer has it.
enum Part { kAddress, kSize, kIsReadOnly, kFormat, kShape, kParts };

// What pickle keeps of a type of numbers, and its buffer does not tell.
bool hasMetadata(PyObject* array) {
  const auto type = Reference::take(PyObject_GetAttrString(array, "dtype"));
  const auto metadata =
      Reference::take(type ? PyObject_GetAttrString(type.get(), "metadata") : nullptr);
  if (!metadata) PyErr_Clear();
  return metadata.get() != Py_None;
}

}  // namespace

bool isArray(PyObject* object) {
  // A type that Python code makes has a name without a dot.
  return std::strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") == 0;
}

bool ArrayArguments::take(std::int64_t position, PyObject* array) {
  if (hasMetadata(array)) return false;
  HostBuffer* const buffer = HostBuffer::of(array, PyBUF_ND | PyBUF_FORMAT);
  if (!buffer) {
    PyErr_Clear();
    return false;
  }
  if (!parcel_) parcel_ = std::make_shared<Parcel>();
  parcel_->keep(buffer);
  const Py_buffer& view = buffer->view();
  if (view.len == 0 || std::strlen(view.format) != 1 || !std::strchr(kFormats, *view.format))
    return false;
  for (const std::int64_t fact :
       {position, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(view.buf)),
        static_cast<std::int64_t>(view.len), static_cast<std::int64_t>(view.readonly != 0),
        static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(buffer)),
        static_cast<std::int64_t>(*view.format), static_cast<std::int64_t>(view.ndim)})
    facts_.push_back(fact);
  for (int i = 0; i < view.ndim; ++i) facts_.push_back(view.shape[i]);
  return true;
}

bool isArray(const Answer& answer) {
  return answer.value.isTuple() && answer.value.toTupleRef().elements().size() == kParts;
}

PyObject* arrayOf(const Answer& answer) {
  const auto& parts = answer.value.toTupleRef().elements();
  const auto memory = Reference::take(
      resultMemoryOf(answer, reinterpret_cast<void*>(parts[kAddress].toInt()),
                     static_cast<Py_ssize_t>(parts[kSize].toInt()), parts[kIsReadOnly].toBool()));
  if (!memory) return nullptr;
  const auto& dimensions = parts[kShape].toTupleRef().elements();
  auto shape = Reference::take(PyTuple_New(static_cast<Py_ssize_t>(dimensions.size())));
  for (std::size_t i = 0; shape && i < dimensions.size(); ++i) {
    PyObject* const size = PyLong_FromLongLong(dimensions[i].toInt());
    if (!size) return nullptr;
    PyTuple_SET_ITEM(shape.get(), static_cast<Py_ssize_t>(i), size);
  }
  const auto format = Reference::take(PyUnicode_FromString(parts[kFormat].toStringRef().c_str()));
  return shape && format ? PyTuple_Pack(3, memory.get(), format.get(), shape.get()) : nullptr;
}

}  // namespace multipy::host
