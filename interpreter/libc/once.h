// What private libraries initialise once: std::call_once() and static variables of functions.
//
// Why it is watched. An initialiser may import a module and wait there for another thread's
// import (python/_multipy_gates.py). If that import comes to the same initialiser, each waits
// for the other, and CPython's search for deadlocks sees one of the two waits only. torch has
// many of these: the first torch.device() of an interpreter imports torch.fx.experimental.
// So it is known here which thread runs which initialiser, and which waits for it.
//
// Who waits for a static variable gives the GIL up meanwhile, as pybind11's
// gil_safe_call_once_and_store does for std::call_once(): its initialiser may need it.
//
// Not seen: libraries with a libstdc++ of their own inside.
//
// Threads: from any thread; what takes Python objects with the GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace multipy {

/// In the child of a fork, where the other threads are not.
void forgetInitializersOfOthers() noexcept;

/// Methods of the module _multipy_host; a thread is known by threading.get_ident().
PyObject* isInitializing(PyObject*, PyObject*);
PyObject* initializerWaitedFor(PyObject*, PyObject* thread);

}  // namespace multipy
