// multipy._host.Worker: an interpreter, and tasks for it.
#pragma once

#include <Python.h>

namespace multipy::host {

/// Adds the type. False with a Python exception.
bool addWorkerType(PyObject* module);

}  // namespace multipy::host
