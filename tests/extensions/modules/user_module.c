// Uses provider_module's C function by its capsule, by its symbol (which it does not say
// it needs), and by dlsym(); and refuses every interpreter but the first.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>

int provider_next(void);

static PyObject* next(PyObject* self, PyObject* how) {
  const char* text = PyUnicode_AsUTF8(how);
  int (*function)(void) = NULL;
  if (!text) return NULL;
  if (!strcmp(text, "capsule")) {
    *(void**)&function = PyCapsule_Import("provider_module.next", 0);
  } else if (!strcmp(text, "dlsym")) {
    *(void**)&function = dlsym(RTLD_DEFAULT, "provider_next");
  } else {
    function = provider_next;
  }
  if (!function) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_LookupError, "provider_next");
    return NULL;
  }
  return PyLong_FromLong(function());
}

static PyMethodDef methods[] = {{"next", next, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static int refuseOthers(PyObject* module) {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return 0;
  PyErr_SetString(PyExc_ImportError, "only in the main interpreter");
  return -1;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void*)refuseOthers}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "user_module", NULL, 0, methods, slots};

PyMODINIT_FUNC PyInit_user_module(void) { return PyModuleDef_Init(&definition); }
