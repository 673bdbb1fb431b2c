// values.h: Python object to IValue.
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/enum_type.h>
#include <ATen/core/jit_type.h>

#include <algorithm>

#include "abi/value_makers.h"
#include "interpreter/common/failure.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/values/depth.h"
#include "interpreter/values/tensor_objects.h"
#include "interpreter/values/tensors.h"
#include "interpreter/values/values.h"

namespace multipy {
namespace {

// The static type of an element, without looking into tensors.
c10::TypePtr elementType(const c10::IValue& value) {
  return value.isTensor() ? c10::TypePtr(c10::TensorType::get()) : value.type();
}

bool alike(const c10::TypePtr& a, const c10::TypePtr& b) { return a == b || *a == *b; }

// What all have in common, AnyType where they differ or there are none.
c10::TypePtr commonType(const std::vector<c10::IValue>& values) {
  if (values.empty()) return c10::AnyType::get();
  c10::TypePtr common = elementType(values.front());
  for (const c10::IValue& value : values)
    if (!alike(common, elementType(value))) return c10::AnyType::get();
  return common;
}

// Python refuses to write an int of thousands of digits.
std::string shortened(PyObject* integer) {
  std::string digits = textOf(integer);
  if (digits.empty()) return "of very many digits";
  if (digits.size() > 60) digits.replace(57, digits.npos, "...");
  return digits;
}

bool intFromPython(PyObject* object, c10::IValue* out, Failure& failure) {
  int overflow;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) {
    conversionFailure(failure,
                      "the int " + shortened(object) +
                          " does not fit an IValue's 64-bit integer: pass it as str or float");
    return false;
  }
  if (value == -1 && PyErr_Occurred()) {
    takePythonError(failure);
    return false;
  }
  *out = static_cast<int64_t>(value);
  return true;
}

bool stringFromPython(PyObject* object, c10::IValue* out, Failure& failure) {
  Py_ssize_t size;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (!text) {
    takePythonError(failure);
    return false;
  }
  *out = std::string(text, size);
  return true;
}

bool bytesFromPython(PyObject* object, c10::IValue* out) {
  *out = PyBytes_Check(object)
             ? std::string(PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object))
             : std::string(PyByteArray_AS_STRING(object), PyByteArray_GET_SIZE(object));
  return true;
}

// Items of a list or tuple; the sequence may change under us while items that
// have Python code are converted, so each is held and the size is read again.
bool itemsFromPython(PyObject* sequence, std::vector<c10::IValue>* out, Failure& failure) {
  const Depth depth(failure, "a Python object to an IValue");
  if (!depth) return false;
  const bool isList = PyList_Check(sequence);
  out->reserve(static_cast<std::size_t>(Py_SIZE(sequence)));
  for (Py_ssize_t i = 0; i < Py_SIZE(sequence); i++) {
    const auto item =
        Reference::borrow(isList ? PyList_GET_ITEM(sequence, i) : PyTuple_GET_ITEM(sequence, i));
    if (!fromPython(item.get(), &out->emplace_back(), failure)) return false;
  }
  return true;
}

c10::impl::GenericList asList(std::vector<c10::IValue> items) {
  c10::impl::GenericList list = host()->values->list(commonType(items));
  list.reserve(items.size());
  for (c10::IValue& item : items) list.push_back(std::move(item));
  return list;
}

bool listFromPython(PyObject* object, c10::IValue* out, Failure& failure) {
  const TransferGroup together;
  std::vector<c10::IValue> items;
  if (!itemsFromPython(object, &items, failure)) return false;
  *out = asList(std::move(items));
  return true;
}

// Field names of a collections.namedtuple or typing.NamedTuple; empty for others.
std::vector<std::string> tupleFields(PyObject* object) {
  std::vector<std::string> names;
  if (PyTuple_CheckExact(object)) return names;
  const auto fields = Reference::take(PyObject_GetAttrString(object, "_fields"));
  if (!fields || !PyTuple_Check(fields.get())) {
    PyErr_Clear();
    return names;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields.get()); i++)
    names.push_back(textOf(PyTuple_GET_ITEM(fields.get(), i)));
  return names;
}

bool tupleFromPython(PyObject* object, c10::IValue* out, Failure& failure) {
  const TransferGroup together;
  std::vector<c10::IValue> items;
  if (!itemsFromPython(object, &items, failure)) return false;
  const std::vector<std::string> names = tupleFields(object);
  if (names.empty() || names.size() != items.size()) {
    *out = host()->values->tuple(std::move(items), nullptr);
    return true;
  }
  std::vector<c10::TypePtr> types;
  for (const c10::IValue& item : items) types.push_back(elementType(item));
  auto type = c10::TupleType::createNamed(
      c10::QualifiedName("__torch__." + typeName(Py_TYPE(object))), names, types);
  *out = host()->values->tuple(std::move(items), type);
  return true;
}

bool isHashableKey(const c10::IValue& key) {
  return key.isString() || key.isInt() || key.isDouble() || key.isBool() || key.isComplexDouble() ||
         key.isTensor() || key.isDevice();
}

bool dictFromPython(PyObject* object, c10::IValue* out, Failure& failure) {
  const TransferGroup together;
  const Depth depth(failure, "a Python object to an IValue");
  if (!depth) return false;
  // A list of pairs first: converting may run Python code that changes the dict.
  const auto pairs = Reference::take(PyDict_Items(object));
  if (!pairs) {
    takePythonError(failure);
    return false;
  }
  std::vector<c10::IValue> keys, values;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(pairs.get()); i++) {
    PyObject* pair = PyList_GET_ITEM(pairs.get(), i);
    PyObject* key = PyTuple_GET_ITEM(pair, 0);
    if (!fromPython(key, &keys.emplace_back(), failure)) return false;
    if (!isHashableKey(keys.back())) {
      conversionFailure(failure, "a dict with a key of type '" + typeName(Py_TYPE(key)) +
                                     "' has no IValue form: keys may be str, int, float, bool, "
                                     "complex, torch.Tensor or torch.device");
      return false;
    }
    if (!fromPython(PyTuple_GET_ITEM(pair, 1), &values.emplace_back(), failure)) return false;
  }
  c10::TypePtr keyType = commonType(keys);
  if (keys.empty()) keyType = c10::StringType::get();
  c10::impl::GenericDict dict = host()->values->dict(keyType, commonType(values));
  dict.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); i++)
    dict.insert(std::move(keys[i]), std::move(values[i]));
  *out = std::move(dict);
  return true;
}

// ------------------------------------------------------------------------ enum

PyObject* enumClass() {
  static PyObject* cls = nullptr;
  if (!cls) {
    // It is there where there are instances of it.
    PyObject* const module = PyDict_GetItemString(PyImport_GetModuleDict(), "enum");
    cls = module ? PyObject_GetAttrString(module, "Enum") : nullptr;
    PyErr_Clear();
  }
  return cls;
}

bool isEnum(PyObject* object) {
  PyObject* cls = enumClass();
  return cls && PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(cls));
}

bool attributeFromPython(PyObject* object, const char* name, c10::IValue* out, Failure& failure) {
  const auto value = Reference::take(PyObject_GetAttrString(object, name));
  if (!value) {
    takePythonError(failure);
    return false;
  }
  return fromPython(value.get(), out, failure);
}

bool isTypeOfEnums(const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::StringType:
      return true;
    default:
      return false;
  }
}

bool enumFromPython(PyObject* object, c10::IValue* out, Failure& failure) {
  auto* cls = reinterpret_cast<PyObject*>(Py_TYPE(object));
  const auto members = Reference::take(PySequence_List(cls));
  if (!members) {
    takePythonError(failure);
    return false;
  }
  std::vector<c10::EnumNameValue> all;
  std::vector<c10::IValue> values;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(members.get()); i++) {
    PyObject* member = PyList_GET_ITEM(members.get(), i);
    c10::IValue name, value;
    if (!attributeFromPython(member, "name", &name, failure) ||
        !attributeFromPython(member, "value", &value, failure))
      return false;
    all.emplace_back(name.toStringRef(), value);
    values.push_back(value);
  }
  c10::IValue name, value;
  if (!attributeFromPython(object, "name", &name, failure) ||
      !attributeFromPython(object, "value", &value, failure))
    return false;
  const c10::TypePtr type = commonType(values);
  if (!isTypeOfEnums(*type)) {
    conversionFailure(failure, "a member of " + typeName(Py_TYPE(object)) +
                                   " has no IValue form: torch has Enums whose values are all int, "
                                   "all float or all str; pass its .value");
    return false;
  }
  if (std::ranges::none_of(all, [&](const auto& each) { return each.second == value; })) {
    conversionFailure(failure, textOf(object) +
                                   " has no IValue form: it is none of the members of " +
                                   typeName(Py_TYPE(object)) + "; pass its .value");
    return false;
  }
  *out = host()->values->enumMember("__torch__." + typeName(Py_TYPE(object)), type, std::move(all),
                                    name.toStringRef(), std::move(value));
  return true;
}

// --------------------------------------------------------------------- others

// A number of some other kind that says what integer it is (numpy.int64), and
// is no container (a numpy array of one element says so too).
bool isIndexNumber(PyObject* object) { return PyIndex_Check(object) && !PySequence_Check(object); }

bool indexFromPython(PyObject* object, c10::IValue* out, Failure& failure) {
  const auto number = Reference::take(PyNumber_Index(object));
  if (!number) {
    takePythonError(failure);
    return false;
  }
  return intFromPython(number.get(), out, failure);
}

bool numpyScalarFromPython(PyObject* object, c10::IValue* out, Failure& failure) {
  const auto item = Reference::take(PyObject_CallMethod(object, "item", nullptr));
  if (!item) {
    takePythonError(failure);
    return false;
  }
  // Of numpy.longdouble it is one, too: Python has no number of that size.
  if (Py_TYPE(item.get()) != Py_TYPE(object)) return fromPython(item.get(), out, failure);
  conversionFailure(failure, "a Python object of type '" + typeName(Py_TYPE(object)) +
                                 "' has no IValue form: convert it with float() or complex()");
  return false;
}

bool isNumpyScalar(PyObject* object) {
  PyObject* numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
  const auto generic = Reference::take(numpy ? PyObject_GetAttrString(numpy, "generic") : nullptr);
  if (!generic) {
    PyErr_Clear();
    return false;
  }
  return PyObject_IsInstance(object, generic.get()) == 1;
}

void noForm(PyObject* object, Failure& failure) {
  const std::string name = typeName(Py_TYPE(object));
  std::string advice =
      "return None, bool, int, float, complex, str, a tensor, or lists, tuples and dicts of these; "
      "or keep it as an Obj";
  if (name == "set" || name == "frozenset") advice = "convert it with list() or sorted()";
  if (name == "numpy.ndarray")
    advice = "convert it with torch.from_numpy(), which shares the memory";
  conversionFailure(failure,
                    "a Python object of type '" + name + "' has no IValue form: " + advice);
}

}  // namespace

bool fromPython(PyObject* object, c10::IValue* out, Failure& failure) {
  if (isTensor(object)) {
    at::Tensor tensor = tensorFromPython(object, failure);
    if (!tensor.defined()) return false;
    *out = std::move(tensor);
    return true;
  }
  if (object == Py_None) {
    *out = c10::IValue();
    return true;
  }
  if (PyBool_Check(object)) {
    *out = object == Py_True;
    return true;
  }
  if (PyLong_CheckExact(object)) return intFromPython(object, out, failure);
  if (isEnum(object)) return enumFromPython(object, out, failure);  // IntEnum is an int, too
  if (PyLong_Check(object)) return intFromPython(object, out, failure);
  if (PyFloat_Check(object)) {
    *out = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyUnicode_Check(object)) return stringFromPython(object, out, failure);
  if (PyTuple_Check(object)) return tupleFromPython(object, out, failure);
  if (PyList_Check(object)) return listFromPython(object, out, failure);
  if (PyDict_Check(object)) return dictFromPython(object, out, failure);
  if (PyComplex_Check(object)) {
    const Py_complex c = PyComplex_AsCComplex(object);
    *out = host()->values->complexNumber({c.real, c.imag});
    return true;
  }
  if (PyBytes_Check(object) || PyByteArray_Check(object)) return bytesFromPython(object, out);
  if (torchValueFromPython(object, out, failure)) return true;
  if (failure.kind != Failure::Kind::None) return false;
  if (isNumpyScalar(object)) return numpyScalarFromPython(object, out, failure);
  if (isIndexNumber(object)) return indexFromPython(object, out, failure);
  noForm(object, failure);
  return false;
}

namespace {

// A tuple or list, of no subclass, that no other code can get at any more: its items can
// be taken out of it.
bool isOnlyOurSequence(PyObject* object) {
  return (PyTuple_CheckExact(object) || PyList_CheckExact(object)) && Py_REFCNT(object) == 1 &&
         Py_SIZE(object) > 0;  // the empty tuple is one for all
}

bool itemsTakenFrom(PyObject* sequence, std::vector<c10::IValue>* out, Failure& failure) {
  const Depth depth(failure, "a Python object to an IValue");
  if (!depth) return false;
  PyObject_GC_UnTrack(sequence);  // the collector shows its objects to everybody
  PyObject** const items = PySequence_Fast_ITEMS(sequence);
  out->reserve(static_cast<std::size_t>(Py_SIZE(sequence)));
  for (Py_ssize_t i = 0; i < Py_SIZE(sequence); i++) {
    auto item = Reference::take(std::exchange(items[i], nullptr));
    if (!resultFromPython(std::move(item), &out->emplace_back(), failure)) return false;
  }
  return true;
}

bool sequenceTaken(Reference sequence, c10::IValue* out, Failure& failure) {
  const TransferGroup together;
  std::vector<c10::IValue> items;
  if (!itemsTakenFrom(sequence.get(), &items, failure)) return false;
  *out = PyList_Check(sequence.get()) ? c10::IValue(asList(std::move(items)))
                                      : host()->values->tuple(std::move(items), nullptr);
  return true;
}

}  // namespace

bool resultFromPython(Reference result, c10::IValue* out, Failure& failure) {
  if (isOnlyOurSequence(result.get())) return sequenceTaken(std::move(result), out, failure);
  if (!isOnlyOurTensor(result.get())) return fromPython(result.get(), out, failure);
  at::Tensor tensor = tensorTakenFrom(result.get(), failure);
  giveUpObject(std::move(result));
  if (!tensor.defined()) return false;
  *out = std::move(tensor);
  return true;
}

}  // namespace multipy
