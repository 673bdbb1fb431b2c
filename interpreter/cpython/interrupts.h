// Interrupting one thread: multipy.Interrupted is raised in it, and in no other.
//
// It is an asynchronous exception of CPython's, which raises it between two instructions. In a
// blocking call there are none. There the thread is woken by a signal (src/process/wake_signal.h):
// the system call ends with EINTR, and CPython asks whether it shall go on, by PyErr_CheckSignals
// in most places and by Py_MakePendingCalls where it waits for a lock. CPython answers for signals,
// in the main thread; ours answer for the calling thread's asynchronous exception, too (CPython
// 3.15's does so itself). They are what CPython and private libraries call by these names.
//
// What is out of reach: code that comes to neither of the two. C code that computes, or that goes
// on after EINTR without a question; and code that waits with pthread_cond_wait(), as a wait for
// the GIL does, which no signal ends.
//
// Put off: the import system's functions that take or give back its locks. Between the instruction
// that takes a lock and the one that enters what gives it back, an asynchronous exception leaves
// the lock taken for ever, and with the lock of imports nothing can be imported or unpickled in the
// interpreter any more. A thread raises what is pending where it takes the GIL again, so it is
// enough to look at the function that it has given the GIL up in; from CPython 3.13 on it may raise
// it later, so it looks again itself then. Other code that takes locks has to live with that, as
// with KeyboardInterrupt.
//
// Python code may swallow it, as any exception: by `except BaseException`, and CPython itself does
// in __del__() and other callbacks, whose errors it prints. It can be asked for again then.
//
// Threads: all functions with the GIL.
#pragma once

#include "interpreter/common/python_version.h"

namespace multipy {

/// multipy.Interrupted, a BaseException; made at the first call. Borrowed; null with an exception.
PyObject* interruptedType();

/// It is pending in that thread from now on. Takes the place of another asynchronous exception.
/// False, without an exception: not now, since it is put off, or out of memory.
bool interruptThread(PyThreadState* state);
/// The calling thread does what cannot be done a second time, as torch's import is: it is not
/// interrupted until it has allowed it again as often as it has put it off.
void putInterruptsOff();
void allowInterrupts();
/// By the thread itself: one that is pending is not raised any more. False: none is.
bool takeInterruptBackFrom(PyThreadState* mine);
bool interruptIsPendingIn(PyThreadState* state);

}  // namespace multipy
