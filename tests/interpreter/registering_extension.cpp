// A Python extension module that registers an operator with torch, as
// torchvision's _C does: one static registration in C++, one module per interpreter.
#define PY_SSIZE_T_CLEAN
#include <ATen/ATen.h>
#include <Python.h>
#include <torch/library.h>

namespace {

at::Tensor twice(const at::Tensor& x) { return x * 2; }

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "registering_extension",
                          nullptr,
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

TORCH_LIBRARY(multipy_extension, library) { library.def("twice(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(multipy_extension, CPU, library) { library.impl("twice", twice); }

PyMODINIT_FUNC PyInit_registering_extension() {
  PyObject* module = PyModule_Create(&definition);
  if (module) PyModule_AddObject(module, "none", PyLong_FromVoidPtr(Py_None));
  return module;
}
