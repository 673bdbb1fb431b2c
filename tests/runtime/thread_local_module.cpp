// An extension with an object for each thread, of which C++ runs the destructor: as greenlet has.
#include <Python.h>

namespace {

struct Kept {
  PyObject* function = nullptr;

  ~Kept() {
    if (!function) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_XDECREF(PyObject_CallNoArgs(function));
    PyErr_Clear();
    Py_DECREF(function);
    PyGILState_Release(state);
  }
};

thread_local Kept kept;

PyObject* callAtEnd(PyObject*, PyObject* function) {
  Py_INCREF(function);
  Py_XSETREF(kept.function, function);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"call_at_end", callAtEnd, METH_O, "Calls a function when the calling thread ends."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "thread_local_module",
                          nullptr,
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_thread_local_module() { return PyModule_Create(&definition); }
