// keep(object): C++ has a reference, which it gives up as this library ends.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace {

struct Kept {
  ~Kept() { Py_XDECREF(object); }
  PyObject* object = nullptr;
};

PyObject* keep(PyObject*, PyObject* object) {
  static Kept kept;
  Py_XSETREF(kept.object, Py_NewRef(object));
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"keep", keep, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "keeping_module",
                          nullptr,
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_keeping_module() { return PyModule_Create(&definition); }
