#include "direct_values.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "interpreter/common/reference.h"
#include "tensors.h"

namespace multipy::host {
namespace {

bool intValue(PyObject* object, at::IValue& value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) return false;
  value = static_cast<std::int64_t>(number);
  return true;
}

bool stringValue(PyObject* object, at::IValue& value) {
  if (!PyUnicode_CheckExact(object)) return false;
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
  if (!text) {
    PyErr_Clear();  // surrogates: pickle has a form for them
    return false;
  }
  value = std::string(text, static_cast<std::size_t>(size));
  return true;
}

bool tensorValue(PyObject* object, at::IValue& value) {
  at::Tensor tensor;
  if (!isPlainTensor(object)) return false;
  if (!unwrapTensor(object, tensor)) {
    PyErr_Clear();
    return false;
  }
  if (tensor.requires_grad() && !tensor.is_leaf()) return false;  // which pickling refuses
  value = std::move(tensor);
  return true;
}

}  // namespace

bool DirectValues::take(PyObject* object, at::IValue& value) {
  if (++size_ > kMost) return false;
  if (object == Py_None) {
    value = at::IValue();
    return true;
  }
  if (PyBool_Check(object)) {
    value = object == Py_True;
    return true;
  }
  if (PyFloat_CheckExact(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyLong_CheckExact(object)) return intValue(object, value);
  if (stringValue(object, value)) return true;
  if (isArray(object)) return isNew(object) && arrays_.take(object, value);
  return tensorValue(object, value) ? isNew(object) : takeNested(object, value);
}

bool DirectValues::takeNested(PyObject* object, at::IValue& value) {
  if (PyDict_CheckExact(object)) return isNew(object) && takeDict(object, value);
  std::vector<at::IValue> items;
  if (PyTuple_CheckExact(object)) {
    if (!takeItems(object, items)) return false;
    value = c10::ivalue::Tuple::create(std::move(items));
    return true;
  }
  if (!PyList_CheckExact(object) || !isNew(object) || !takeItems(object, items)) return false;
  c10::impl::GenericList list(c10::AnyType::get());
  list.reserve(items.size());
  for (at::IValue& item : items) list.push_back(std::move(item));
  value = std::move(list);
  return true;
}

bool DirectValues::takeItems(PyObject* sequence, std::vector<at::IValue>& items) {
  // Nothing in here runs code of Python's, which could change a list meanwhile.
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
  if (static_cast<std::size_t>(count) > kMost) return false;
  items.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!take(PySequence_Fast_GET_ITEM(sequence, i), items.emplace_back())) return false;
  return true;
}

bool DirectValues::takeDict(PyObject* dict, at::IValue& value) {
  c10::impl::GenericDict values(c10::StringType::get(), c10::AnyType::get());
  Py_ssize_t at = 0;
  PyObject *key = nullptr, *item = nullptr;
  while (PyDict_Next(dict, &at, &key, &item)) {
    at::IValue name, taken;
    if (!stringValue(key, name) || !take(item, taken)) return false;
    values.insert(std::move(name), std::move(taken));
  }
  value = std::move(values);
  return true;
}

bool DirectValues::isNew(PyObject* object) {
  if (std::find(seen_.begin(), seen_.end(), object) != seen_.end()) return false;
  seen_.push_back(object);
  return true;
}

namespace {

PyObject* stringObject(const std::string& text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict");
}

/// Puts `elements` into a new tuple or list, by PyTuple_SetItem or PyList_SetItem.
template <class Elements>
PyObject* filled(PyObject* made, const Elements& elements,
                 int (*set)(PyObject*, Py_ssize_t, PyObject*)) {
  auto sequence = Reference::take(made);
  for (std::size_t i = 0; sequence && i < elements.size(); ++i) {
    PyObject* const item = objectOfDirect(elements[i]);
    if (!item || set(sequence.get(), static_cast<Py_ssize_t>(i), item) != 0) return nullptr;
  }
  return sequence.release();
}

PyObject* tupleObject(const at::IValue& value) {
  const auto& elements = value.toTupleRef().elements();
  return filled(PyTuple_New(static_cast<Py_ssize_t>(elements.size())), elements, PyTuple_SetItem);
}

PyObject* listObject(const at::IValue& value) {
  const auto elements = value.toListRef();
  return filled(PyList_New(static_cast<Py_ssize_t>(elements.size())), elements, PyList_SetItem);
}

PyObject* dictObject(const at::IValue& value) {
  auto dict = Reference::take(PyDict_New());
  if (!dict) return nullptr;
  for (const auto& entry : value.toGenericDict()) {
    const auto key = Reference::take(stringObject(entry.key().toStringRef()));
    const auto item = Reference::take(key ? objectOfDirect(entry.value()) : nullptr);
    if (!item || PyDict_SetItem(dict.get(), key.get(), item.get()) != 0) return nullptr;
  }
  return dict.release();
}

}  // namespace

PyObject* objectOfDirect(const at::IValue& value) {
  if (value.isTensor()) return wrapTensor(value.toTensor());
  if (value.isNone()) Py_RETURN_NONE;
  if (value.isBool()) return PyBool_FromLong(value.toBool());
  if (value.isInt()) return PyLong_FromLongLong(value.toInt());
  if (value.isDouble()) return PyFloat_FromDouble(value.toDouble());
  if (value.isComplexDouble())
    return PyComplex_FromDoubles(value.toComplexDouble().real(), value.toComplexDouble().imag());
  if (value.isString()) return stringObject(value.toStringRef());
  if (value.isTuple()) return tupleObject(value);
  if (value.isList()) return listObject(value);
  if (value.isGenericDict()) return dictObject(value);
  PyErr_Format(PyExc_RuntimeError, "an answer that is a %s", value.tagKind().c_str());
  return nullptr;
}

}  // namespace multipy::host
