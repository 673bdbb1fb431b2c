#include "interpreter/host_module.h"

#include <string>

#include "interpreter/host_connection.h"

namespace multipy {
namespace {

PyObject* moduleSource(PyObject*, PyObject* argument) {
  const char* name = PyUnicode_AsUTF8(argument);
  if (!name) return nullptr;
  std::string source;
  if (!host()->moduleSource(host()->context, name, source)) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(source.data(), static_cast<Py_ssize_t>(source.size()), "strict");
}

PyMethodDef methods[] = {
    {"module_source", moduleSource, METH_O, "Source registered for a module name, or None."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          kHostModuleName,
                          "What multipy's Python code asks the host process for.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyObject* initHostModule() {
  auto module = Reference::take(PyModule_Create(&definition));
  if (!module || PyModule_AddIntConstant(module.get(), "slot", host()->slot) != 0) return nullptr;
  return module.release();
}

}  // namespace multipy
