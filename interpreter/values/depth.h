// How deep a value that is converted may be nested.
#pragma once

#include <string>

#include "interpreter/common/failure.h"

namespace multipy {

/// Guards against values that contain themselves: RecursionError, as Python has it. It
/// is written by hand, since at this depth Python could not even format it. With the GIL.
class Depth {
 public:
  /// `what` is converted, "a Python object to an IValue".
  Depth(Failure& failure, const char* what) : entered_(Py_EnterRecursiveCall("") == 0) {
    if (entered_) return;
    PyErr_Clear();
    failure.kind = Failure::Kind::Python;
    failure.type = "RecursionError";
    failure.message = std::string("maximum recursion depth exceeded while converting ") + what +
                      ": it is nested too deeply, or contains itself";
  }
  ~Depth() {
    if (entered_) Py_LeaveRecursiveCall();
  }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  bool entered_;
};

}  // namespace multipy
