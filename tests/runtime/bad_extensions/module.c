// An extension module by whatever name the build gives it.
//   MODULE      its name
//   CALLS       a function that it calls when it is imported
//   STATIC_TLS  bytes of thread-local variables that have to be in the static block
#include <Python.h>

#define CONCAT(a, b) a##b
#define INIT(name) CONCAT(PyInit_, name)
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

#ifdef CALLS
extern void CALLS(void);
#endif
#ifdef STATIC_TLS
__thread char block[STATIC_TLS] __attribute__((tls_model("initial-exec")));
#endif

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = TEXT(MODULE),
                                        .m_size = -1};

PyMODINIT_FUNC INIT(MODULE)(void) {
#ifdef CALLS
  CALLS();
#endif
#ifdef STATIC_TLS
  block[1] = 1;
#endif
  return PyModule_Create(&definition);
}
