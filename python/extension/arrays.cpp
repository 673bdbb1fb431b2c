#include "arrays.h"

#include <cstring>

#include "direct_values.h"
#include "interpreter/common/reference.h"

namespace multipy::host {
namespace {

// bool, integers, and floating-point numbers that both Pythons name alike. (_inside.py has the
// same.)
constexpr const char* kFormats = "?bBhHiIlLqQefd";

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

bool ArrayArguments::take(PyObject* array, at::IValue& value) {
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
       {static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(view.buf)),
        static_cast<std::int64_t>(view.len), static_cast<std::int64_t>(view.readonly != 0),
        static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(buffer)),
        static_cast<std::int64_t>(*view.format), static_cast<std::int64_t>(view.ndim)})
    facts_.push_back(fact);
  for (int i = 0; i < view.ndim; ++i) facts_.push_back(view.shape[i]);
  value = c10::complex<double>(static_cast<double>(count_++));
  return true;
}

namespace {

/// (memory, format, shape), of the facts from `at` on, which goes to the next array's.
PyObject* partsOf(const Answer& answer, const c10::List<std::int64_t>& facts, std::size_t& at) {
  const auto next = [&] { return facts.get(at++); };
  void* const address = reinterpret_cast<void*>(next());
  const auto size = static_cast<Py_ssize_t>(next());
  const bool isReadOnly = next() != 0;
  const char format = static_cast<char>(next());
  const auto memory = Reference::take(resultMemoryOf(answer, address, size, isReadOnly));
  const auto dimensions = static_cast<Py_ssize_t>(next());
  const auto shape = Reference::take(PyTuple_New(dimensions));
  for (Py_ssize_t i = 0; shape && i < dimensions; ++i) {
    PyObject* const extent = PyLong_FromLongLong(next());
    if (!extent) return nullptr;
    PyTuple_SET_ITEM(shape.get(), i, extent);
  }
  const auto kind = Reference::take(PyUnicode_FromStringAndSize(&format, 1));
  return memory && shape && kind ? PyTuple_Pack(3, memory.get(), kind.get(), shape.get()) : nullptr;
}

}  // namespace

bool hasArrays(const Answer& answer) {
  return answer.value.isTuple() && answer.value.toTupleRef().elements().size() == 2;
}

PyObject* objectWithArrays(const Answer& answer) {
  const auto& elements = answer.value.toTupleRef().elements();
  const auto facts = elements[1].toIntList();
  const auto arrays = Reference::take(PyList_New(0));
  for (std::size_t at = 0; arrays && at < facts.size();) {
    const auto parts = Reference::take(partsOf(answer, facts, at));
    if (!parts || PyList_Append(arrays.get(), parts.get()) != 0) return nullptr;
  }
  const auto value = Reference::take(arrays ? objectOfDirect(elements[0]) : nullptr);
  return value ? PyTuple_Pack(2, value.get(), arrays.get()) : nullptr;
}

}  // namespace multipy::host
