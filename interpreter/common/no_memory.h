// C++ functions that C code calls, CPython's above all: no exception may pass through that, so
// where there is no memory they say so in its way.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cerrno>
#include <new>
#include <utility>

namespace multipy {

/// A method of a Python object: MemoryError.
template <auto function>
PyObject* orMemoryError(PyObject* self, PyObject* arguments) noexcept {
  try {
    return function(self, arguments);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

/// A function like setenv(3), which gives 0 or -1: ENOMEM.
template <class Work>
int orNoMemory(Work&& work) noexcept {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return -1;
  }
}

}  // namespace multipy
