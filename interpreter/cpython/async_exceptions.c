// In C since CPython's internal headers are.
//
// Where the request to look at an exception is kept differs:
//
//   3.10 to 3.12   in the interpreter. A thread that takes the GIL and has an exception makes the
//                  request; it stays until some thread raises one. Each time that the GIL is taken
//                  the eval breaker is computed anew from all requests.
//   from 3.13 on   in the thread's own state.
#define Py_BUILD_CORE 1
#include "interpreter/cpython/async_exceptions.h"

#include <internal/pycore_ceval.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_pystate.h>

#if PY_VERSION_HEX >= 0x030D0000

static PyObject* exchange(PyThreadState* state, PyObject* exception) {
  return _Py_atomic_exchange_ptr(&state->async_exc, exception);
}

static void request(PyThreadState* state) {
  _Py_set_eval_breaker_bit(state, _PY_ASYNC_EXCEPTION_BIT);
}

static void takeRequestBack(PyThreadState* mine) {
  _Py_unset_eval_breaker_bit(mine, _PY_ASYNC_EXCEPTION_BIT);
}

PyObject* multipyAsyncException(PyThreadState* state) {
  return _Py_atomic_load_ptr(&state->async_exc);
}

#else

static PyObject* exchange(PyThreadState* state, PyObject* exception) {
  PyObject* const before = state->async_exc;
  state->async_exc = exception;
  return before;
}

// Another thread makes it itself when it takes the GIL, which it does not have now. Made here, it
// would have all threads of the interpreter look at each turn of their loops until then.
static void request(PyThreadState* state) {
  if (state == _PyThreadState_GET()) _PyEval_SignalAsyncExc(state->interp);
}

// Others that have an exception make it again when they take the GIL. The eval breaker stays as it
// is until then: to compute it is for CPython.
static void takeRequestBack(PyThreadState* mine) { mine->interp->ceval.pending.async_exc = 0; }

PyObject* multipyAsyncException(PyThreadState* state) { return state->async_exc; }

#endif

void multipySetAsyncException(PyThreadState* state, PyObject* exception) {
  Py_INCREF(exception);
  PyObject* const before = exchange(state, exception);
  request(state);
  Py_XDECREF(before);
}

PyObject* multipyTakeAsyncException(PyThreadState* mine) {
  takeRequestBack(mine);  // first: one that is set after it is seen with its request
  return exchange(mine, NULL);
}
