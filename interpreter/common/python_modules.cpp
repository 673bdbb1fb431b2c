#include "interpreter/common/python_modules.h"

#include <marshal.h>

#include <cstring>
#include <string>

#include "interpreter/common/python_code.h"

namespace multipy {
namespace {

Reference codeOf(const char* name) {
  if (PyImport_GetMagicNumber() != pythonCodeMagic) {
    PyErr_Format(PyExc_SystemError,
                 "multipy's Python code has the magic number %ld, this Python expects %ld: they "
                 "were built with different versions; rebuild multipy",
                 pythonCodeMagic, PyImport_GetMagicNumber());
    return nullptr;
  }
  for (std::size_t i = 0; i < pythonCodeCount; i++)
    if (std::strcmp(pythonCode[i].name, name) == 0)
      return Reference::take(PyMarshal_ReadObjectFromString(
          pythonCode[i].data, static_cast<Py_ssize_t>(pythonCode[i].size)));
  PyErr_Format(PyExc_SystemError, "multipy has no embedded module '%s'", name);
  return nullptr;
}

// Only a module that has been executed to its end may be seen by other threads:
// they have no import lock to wait for. Two that execute it at once are no harm,
// the first to be done is everybody's.
Reference published(const char* name, PyObject* module) {
  const auto key = Reference::take(PyUnicode_FromString(name));
  PyObject* first = key ? PyDict_SetDefault(PyImport_GetModuleDict(), key.get(), module) : nullptr;
  return Reference::borrow(first);
}

}  // namespace

Reference ourModule(const char* name) {
  PyObject* loaded = PyDict_GetItemString(PyImport_GetModuleDict(), name);
  if (loaded) return Reference::borrow(loaded);
  const std::string file = "<multipy/" + std::string(name) + ".py>";
  const Reference code = codeOf(name);
  const auto module = Reference::take(code ? PyModule_New(name) : nullptr);
  if (!module || PyModule_AddStringConstant(module.get(), "__file__", file.c_str()) != 0)
    return nullptr;
  PyObject* names = PyModule_GetDict(module.get());
  if (PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) != 0) return nullptr;
  const auto done = Reference::take(PyEval_EvalCode(code.get(), names, names));
  if (!done) return nullptr;
  return published(name, module.get());
}

PyObject* ourFunction(const char* module, const char* function) {
  const Reference loaded = ourModule(module);
  if (!loaded) return nullptr;
  // The module stays in sys.modules and keeps its functions.
  const auto found = Reference::take(PyObject_GetAttrString(loaded.get(), function));
  return found.get();
}

}  // namespace multipy
