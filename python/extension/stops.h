// What ends a call: an object that the program makes before the call begins, so that the call is
// ended whenever it is asked for.
//
// Threads: with the program's GIL.
#pragma once

#include <Python.h>

#include <stop_token>

namespace multipy::host {

/// Adds the type Stop: request(), is_requested(). False with a Python exception.
bool addStopType(PyObject* module);
/// A new reference; null with a Python exception.
PyObject* newStop();
/// Of a Stop, or of None: a token that nothing asks to stop. False with a Python exception.
bool stopTokenOf(PyObject* stop, std::stop_token& token);

}  // namespace multipy::host
