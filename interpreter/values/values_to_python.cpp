// values.h: IValue to Python object.
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/enum_type.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>

#include "interpreter/common/failure.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/values/depth.h"
#include "interpreter/values/tensors.h"
#include "interpreter/values/values.h"

namespace multipy {
namespace {

constexpr const char* kWhat = "an IValue to a Python object";

Reference stringToPython(const std::string& text, Failure& failure) {
  return taken(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict"),
               failure);
}

template <typename Elements, typename Convert>
Reference listToPython(const Elements& elements, Failure& failure, Convert&& convert) {
  Reference list = taken(PyList_New(static_cast<Py_ssize_t>(elements.size())), failure);
  if (!list) return nullptr;
  Py_ssize_t i = 0;
  for (const auto& element : elements) {
    Reference item = convert(element);
    if (!item) return nullptr;
    PyList_SET_ITEM(list.get(), i++, item.release());
  }
  return list;
}

Reference complexToPython(c10::complex<double> value, Failure& failure) {
  return taken(PyComplex_FromDoubles(value.real(), value.imag()), failure);
}

Reference anyListToPython(const c10::IValue& value, Failure& failure) {
  const TransferGroup together;
  const Depth depth(failure, kWhat);
  if (!depth) return nullptr;
  if (value.isIntList())
    return listToPython(value.toIntVector(), failure,
                        [&](int64_t v) { return taken(PyLong_FromLongLong(v), failure); });
  if (value.isDoubleList())
    return listToPython(value.toDoubleVector(), failure,
                        [&](double v) { return taken(PyFloat_FromDouble(v), failure); });
  if (value.isTensorList())
    return listToPython(value.toTensorVector(), failure,
                        [&](const at::Tensor& v) { return tensorToPython(v, failure); });
  return listToPython(value.toListRef(), failure,
                      [&](const c10::IValue& v) { return toPython(v, failure); });
}

// collections.namedtuple(typename, fields, rename=True): a field that Python has no name for, such
// as the _1 of a tuple that was made so, is called by its place.
Reference namedTupleType(const c10::TupleType& type, Failure& failure) {
  const c10::FunctionSchema& schema = *type.schema();
  const auto names = Reference::take(PyList_New(0));
  for (const auto& argument : schema.arguments()) {
    const auto name = Reference::take(PyUnicode_FromString(argument.name().c_str()));
    if (!names || !name || PyList_Append(names.get(), name.get()) != 0) break;
  }
  const auto collections =
      Reference::take(PyErr_Occurred() ? nullptr : PyImport_ImportModule("collections"));
  const auto make = Reference::take(
      collections ? PyObject_GetAttrString(collections.get(), "namedtuple") : nullptr);
  const auto arguments = Reference::take(
      make ? Py_BuildValue("(sO)", type.name()->name().c_str(), names.get()) : nullptr);
  const auto options =
      Reference::take(arguments ? Py_BuildValue("{sO}", "rename", Py_True) : nullptr);
  return taken(options ? PyObject_Call(make.get(), arguments.get(), options.get()) : nullptr,
               failure);
}

Reference tupleToPython(const c10::IValue& value, Failure& failure) {
  const TransferGroup together;
  const Depth depth(failure, kWhat);
  if (!depth) return nullptr;
  const auto& elements = value.toTupleRef().elements();
  Reference tuple = taken(PyTuple_New(static_cast<Py_ssize_t>(elements.size())), failure);
  if (!tuple) return nullptr;
  for (std::size_t i = 0; i < elements.size(); i++) {
    Reference item = toPython(elements[i], failure);
    if (!item) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item.release());
  }
  const auto type = value.toTupleRef().type();
  if (!type->schema() || !type->name()) return tuple;
  const Reference named = namedTupleType(*type, failure);
  if (!named) return nullptr;
  return taken(PyObject_CallObject(named.get(), tuple.get()), failure);
}

Reference dictToPython(const c10::IValue& value, Failure& failure) {
  const TransferGroup together;
  const Depth depth(failure, kWhat);
  if (!depth) return nullptr;
  Reference dict = taken(PyDict_New(), failure);
  if (!dict) return nullptr;
  for (const auto& entry : value.toGenericDict()) {
    const Reference key = toPython(entry.key(), failure);
    if (!key) return nullptr;
    const Reference item = toPython(entry.value(), failure);
    if (!item) return nullptr;
    if (PyDict_SetItem(dict.get(), key.get(), item.get()) != 0) return taken(nullptr, failure);
  }
  return dict;
}

// The member of the Python class that the type is named after.
Reference enumToPython(const c10::IValue& value, Failure& failure) {
  const auto holder = value.toEnumHolder();
  std::string module = holder->type()->qualifiedClassName().prefix();
  const std::string cls = holder->type()->qualifiedClassName().name();
  constexpr std::string_view root = "__torch__.";
  if (module.starts_with(root)) module.erase(0, root.size());
  const auto imported = Reference::take(PyImport_ImportModule(module.c_str()));
  const auto type =
      Reference::take(imported ? PyObject_GetAttrString(imported.get(), cls.c_str()) : nullptr);
  return taken(type ? PyObject_GetAttrString(type.get(), holder->name().c_str()) : nullptr,
               failure);
}

// Made of a null intrusive_ptr.
bool pointsToNothing(const c10::IValue& value) {
  return value.isStorage() ? !value.isPtrType() : value.isPtrType() && !value.internalToPointer();
}

}  // namespace

Reference toPython(const c10::IValue& value, Failure& failure) {
  if (value.isTensor()) return tensorToPython(value.toTensor(), failure);
  if (value.isNone()) return Reference::borrow(Py_None);
  if (value.isBool()) return Reference::borrow(value.toBool() ? Py_True : Py_False);
  if (value.isInt()) return taken(PyLong_FromLongLong(value.toInt()), failure);
  if (value.isDouble()) return taken(PyFloat_FromDouble(value.toDouble()), failure);
  if (pointsToNothing(value)) {
    conversionFailure(failure, "an IValue of kind " + value.tagKind() +
                                   " that points to nothing has no Python form: pass None");
    return nullptr;
  }
  if (value.isString()) return stringToPython(value.toStringRef(), failure);
  if (value.isComplexDouble()) return complexToPython(value.toComplexDouble(), failure);
  if (value.isTuple()) return tupleToPython(value, failure);
  if (value.isList()) return anyListToPython(value, failure);
  if (value.isGenericDict()) return dictToPython(value, failure);
  if (value.isEnum()) return enumToPython(value, failure);
  return torchValueToPython(value, failure);
}

}  // namespace multipy
