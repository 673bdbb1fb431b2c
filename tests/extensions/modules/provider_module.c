// Gives others its C functions in both ways: by a capsule, and as symbols for those that
// were imported after it with sys.setdlopenflags(RTLD_GLOBAL).
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static int counter;

__attribute__((visibility("default"))) int provider_next(void) { return ++counter; }

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "provider_module", NULL, -1, NULL};

PyMODINIT_FUNC PyInit_provider_module(void) {
  PyObject* module = PyModule_Create(&definition);
  PyObject* capsule = PyCapsule_New((void*)provider_next, "provider_module.next", NULL);
  if (!module || !capsule || PyModule_AddObject(module, "next", capsule) < 0) return NULL;
  return module;
}
