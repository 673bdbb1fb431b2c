#include "interpreter/python_modules.h"

#include <cstring>
#include <string>

#include "interpreter/python_sources.h"

namespace multipy {
namespace {

const PythonSource* sourceOf(const char* name) {
  for (std::size_t i = 0; i < pythonSourceCount; i++)
    if (std::strcmp(pythonSources[i].name, name) == 0) return &pythonSources[i];
  return nullptr;
}

}  // namespace

PyObject* ourModule(const char* name) {
  PyObject* loaded = PyDict_GetItemString(PyImport_GetModuleDict(), name);
  if (loaded) return Py_NewRef(loaded);
  const PythonSource* source = sourceOf(name);
  if (!source) {
    PyErr_Format(PyExc_SystemError, "multipy has no embedded module '%s'", name);
    return nullptr;
  }
  const std::string file = "<multipy>/" + std::string(name) + ".py";
  const auto code = Reference::take(Py_CompileString(source->text, file.c_str(), Py_file_input));
  return code ? PyImport_ExecCodeModuleEx(name, code.get(), file.c_str()) : nullptr;
}

PyObject* ourFunction(const char* module, const char* function) {
  const auto loaded = Reference::take(ourModule(module));
  if (!loaded) return nullptr;
  // The module stays in sys.modules and keeps its functions.
  const auto found = Reference::take(PyObject_GetAttrString(loaded.get(), function));
  return found.get();
}

}  // namespace multipy
