// What differs between the versions of CPython that interpreter/ works with (the
// list is in cmake/MultipyPython.cmake). The rest of interpreter/ is the same
// for all of them.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>  // PyFrame_GetBack, in CPython 3.10

namespace multipy {

/// The thread state that holds the GIL in this thread, or null.
inline PyThreadState* attachedThreadState() {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

/// Before the state of a thread that has ended is deleted by another one.
inline void forgetItsThread([[maybe_unused]] PyThreadState* state) {
#if PY_VERSION_HEX >= 0x030C0000
  // From 3.12 on PyThreadState_Delete clears what PyGILState_GetThisThreadState
  // finds in the thread that calls it, if the state deleted was ever found so in
  // its own: the caller would seem to have none.
  state->_status.bound_gilstate = 0;
#endif
}

/// Borrowed. CPython 3.10 knows the name alone.
inline PyObject* qualifiedName(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  return code->co_qualname;
#else
  return code->co_name;
#endif
}

/// Whether code is compiled with its columns, for tracebacks.
inline int keepsColumns([[maybe_unused]] const PyConfig& config) {
#if PY_VERSION_HEX >= 0x030B0000
  return config.code_debug_ranges;
#else
  return 0;
#endif
}

// From 3.12 on CPython has a second Py_MakePendingCalls, for a state that is given: what waits for
// a lock calls it, with 3.12 and 3.13 also in extension modules.
#define MULTIPY_PYTHON_MAKES_PENDING_CALLS_OF (PY_VERSION_HEX >= 0x030C0000)

// From 3.12 on one function does what a thread has been asked for while it executed bytecode. (From
// 3.13 on it goes by what it was asked for when it began: an exception that is set while it waits
// for the GIL there is raised the next time.)
#define MULTIPY_PYTHON_HANDLES_PENDING (PY_VERSION_HEX >= 0x030C0000)

}  // namespace multipy
