// An owned reference to a Python object. A raw PyObject* is a borrowed one, but for results of the
// C API's functions that say otherwise, which go into a Reference at once, and of functions that
// CPython calls.
//
// Threads: only with this interpreter's GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <utility>

#include "abi/references.h"

namespace multipy {

class Reference {
 public:
  Reference() = default;
  Reference(std::nullptr_t) {}
  /// Takes over a new reference (may be null: an error is set).
  static Reference take(PyObject* newReference) { return Reference(newReference); }
  static Reference take(NewReference given) { return Reference(given.release()); }
  static Reference borrow(PyObject* borrowed) {
    Py_XINCREF(borrowed);
    return Reference(borrowed);
  }
  Reference(Reference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Reference& operator=(Reference&& other) noexcept {
    Reference old(std::exchange(object_, std::exchange(other.object_, nullptr)));
    return *this;
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  /// For the host.
  NewReference give() { return NewReference(release()); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Reference(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

/// Raised errors that are set aside while something else runs.
class ErrorsAside {
 public:
  ErrorsAside() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorsAside() {
    if (!forgotten_) PyErr_Restore(type_, value_, traceback_);
  }
  ErrorsAside(const ErrorsAside&) = delete;
  ErrorsAside& operator=(const ErrorsAside&) = delete;

  /// Another one that has been raised meanwhile stays.
  void forget() {
    forgotten_ = true;
    Py_XDECREF(type_);
    Py_XDECREF(value_);
    Py_XDECREF(traceback_);
  }

 private:
  PyObject *type_, *value_, *traceback_;
  bool forgotten_ = false;
};

}  // namespace multipy
