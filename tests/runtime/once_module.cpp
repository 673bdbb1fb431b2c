// What C++ initialises once, by a Python function: each of these runs its first function, if that
// raises the next one's, and returns what has been returned.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <mutex>

namespace {

struct Raised {};

PyObject* called(PyObject* function) {
  PyObject* const result = PyObject_CallNoArgs(function);
  if (!result) throw Raised();
  return result;
}

// As pybind11's gil_safe_call_once_and_store: no thread waits with the GIL.
PyObject* byCallOnce(PyObject*, PyObject* function) try {
  static std::once_flag once;
  static PyObject* result = nullptr;
  struct WithoutGil {
    PyThreadState* state = PyEval_SaveThread();
    ~WithoutGil() { PyEval_RestoreThread(state); }
  };
  {
    const WithoutGil without;
    std::call_once(once, [&] {
      struct WithGil {
        PyGILState_STATE state = PyGILState_Ensure();
        ~WithGil() { PyGILState_Release(state); }
      };
      const WithGil with;
      result = called(function);
    });
  }
  return Py_NewRef(result);
} catch (const Raised&) {
  return nullptr;
}

PyObject* asStatic(PyObject*, PyObject* function) try {
  static PyObject* const result = called(function);
  return Py_NewRef(result);
} catch (const Raised&) {
  return nullptr;
}

PyMethodDef methods[] = {{"by_call_once", byCallOnce, METH_O, nullptr},
                         {"as_static", asStatic, METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "once_module", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_once_module() { return PyModule_Create(&definition); }
