// multipy._host.Pool: a model in each of several interpreters, and calls of it.
#pragma once

#include <Python.h>

namespace multipy::host {

/// Adds the types. False with a Python exception.
bool addPoolType(PyObject* module);

}  // namespace multipy::host
