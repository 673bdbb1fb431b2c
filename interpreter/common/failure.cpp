#include "interpreter/common/failure.h"

namespace multipy {

namespace {

std::string utf8(PyObject* text) {
  Py_ssize_t size;
  const char* bytes =
      text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  if (bytes) return std::string(bytes, size);
  PyErr_Clear();
  if (!text || !PyUnicode_Check(text)) return {};
  // Lone surrogates (undecodable file names): shown escaped rather than lost.
  const auto escaped =
      Reference::take(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  if (escaped)
    return std::string(PyBytes_AS_STRING(escaped.get()), PyBytes_GET_SIZE(escaped.get()));
  PyErr_Clear();
  return {};
}

std::string attributeText(PyObject* object, const char* name) {
  const auto value = Reference::take(PyObject_GetAttrString(object, name));
  if (!value) PyErr_Clear();
  return utf8(value.get());
}

/// CPython 3.10 knows nothing of PEP 678's notes, and formats an exception without them.
std::string unformattedNotes([[maybe_unused]] PyObject* value) {
  std::string lines;
#if PY_VERSION_HEX < 0x030B0000
  const auto notes = Reference::take(PyObject_GetAttrString(value, "__notes__"));
  if (!notes) PyErr_Clear();
  if (!notes || !PyList_Check(notes.get())) return lines;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(notes.get()); i++)
    lines += utf8(PyList_GET_ITEM(notes.get(), i)) + "\n";
#endif
  return lines;
}

std::string formattedTraceback(PyObject* type, PyObject* value, PyObject* traceback) {
  const auto module = Reference::take(PyImport_ImportModule("traceback"));
  const auto lines =
      Reference::take(module ? PyObject_CallMethod(module.get(), "format_exception", "OOO", type,
                                                   value, traceback ? traceback : Py_None)
                             : nullptr);
  const auto nothing = Reference::take(PyUnicode_FromStringAndSize("", 0));
  const auto joined =
      Reference::take(lines && nothing ? PyUnicode_Join(nothing.get(), lines.get()) : nullptr);
  if (!joined) PyErr_Clear();
  return utf8(joined.get()) + unformattedNotes(value);
}

std::vector<std::string> currentSearchPath() {
  std::vector<std::string> result;
  PyObject* path = PySys_GetObject("path");
  if (!path || !PyList_Check(path)) return result;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(path); i++)
    result.push_back(textOf(PyList_GET_ITEM(path, i)));
  return result;
}

/// What a traceback's last line says of it.
std::string messageOf(PyObject* exception) {
  const auto text = Reference::take(exception ? PyObject_Str(exception) : nullptr);
  if (text) return utf8(text.get());
  PyErr_Clear();
  return exception ? "<exception str() failed>" : std::string();
}

}  // namespace

std::string textOf(PyObject* object) {
  const auto text = Reference::take(object ? PyObject_Str(object) : nullptr);
  if (!text) PyErr_Clear();
  return utf8(text.get());
}

std::string typeName(PyTypeObject* type) {
  auto* object = reinterpret_cast<PyObject*>(type);
  const std::string module = attributeText(object, "__module__");
  std::string name = attributeText(object, "__qualname__");
  if (name.empty()) name = type->tp_name;
  return module.empty() || module == "builtins" ? name : module + "." + name;
}

void takePythonError(Failure& failure) {
  PyObject *rawType, *rawValue, *rawTraceback;
  PyErr_Fetch(&rawType, &rawValue, &rawTraceback);
  if (!rawType) {
    failure.kind = Failure::Kind::Python;
    failure.type = "SystemError";
    failure.message = "a Python function failed without raising an exception";
    return;
  }
  PyErr_NormalizeException(&rawType, &rawValue, &rawTraceback);
  const auto type = Reference::take(rawType);
  const auto value = Reference::take(rawValue);
  const auto traceback = Reference::take(rawTraceback);
  if (value && traceback) PyException_SetTraceback(value.get(), traceback.get());

  failure.kind = Failure::Kind::Python;
  failure.type = typeName(reinterpret_cast<PyTypeObject*>(type.get()));
  failure.message = messageOf(value.get());
  failure.traceback = formattedTraceback(type.get(), value.get(), traceback.get());
  if (value && PyErr_GivenExceptionMatches(type.get(), PyExc_ModuleNotFoundError)) {
    failure.kind = Failure::Kind::ModuleNotFound;
    failure.module = attributeText(value.get(), "name");
    failure.searchPath = currentSearchPath();
  }
}

Reference taken(PyObject* newReference, Failure& failure) {
  if (!newReference) takePythonError(failure);
  return Reference::take(newReference);
}

void conversionFailure(Failure& failure, std::string message) {
  failure.kind = Failure::Kind::Conversion;
  failure.message = std::move(message);
}

}  // namespace multipy
