// Reads and writes two fields of CPython's GIL, for which there is no function that
// works without holding it. In C since CPython's internal headers are.
#include "interpreter/cpython/gil_state.h"

#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_pystate.h>
#include <internal/pycore_runtime.h>

static struct _gil_runtime_state* gil(void) {
#if PY_VERSION_HEX >= 0x030C0000
  return PyInterpreterState_Main()->ceval.gil;
#else
  return &_PyRuntime.ceval.gil;
#endif
}

int multipyGilIsFree(void) {
#if PY_VERSION_HEX >= 0x030D0000
  return _Py_atomic_load_int_relaxed(&gil()->locked) == 0;
#else
  return _Py_atomic_load_relaxed(&gil()->locked) == 0;
#endif
}

unsigned long multipySetSwitchInterval(unsigned long microseconds) {
  // CPython itself reads and writes it without a lock.
  return __atomic_exchange_n(&gil()->interval, microseconds, __ATOMIC_RELAXED);
}
