// CPython's asynchronous exceptions: one that is set in a thread's state by another thread, and
// raised at that thread's next look at its eval breaker.
//
// PyThreadState_SetAsyncExc is the public function for it. It is not enough here: it finds the
// state by the thread's number, which a thread that has ended may have had as well, and with
// CPython 3.10 to 3.12 an exception that is taken back leaves the whole interpreter's eval
// breaker on, until some thread raises another one.
//
// Threads: all functions with the GIL.
#pragma once

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Sets `exception` (borrowed, kept), which takes the place of one that is there. Of any thread's
/// state.
void multipySetAsyncException(PyThreadState* state, PyObject* exception);
/// What is set in that state, or null. Borrowed.
PyObject* multipyAsyncException(PyThreadState* state);
/// Takes it out of the calling thread's state, where it will not be raised any more. A new
/// reference, or null.
PyObject* multipyTakeAsyncException(PyThreadState* mine);

#ifdef __cplusplus
}
#endif
