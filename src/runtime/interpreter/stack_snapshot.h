// The stacks of an interpreter whose GIL cannot be had.
#pragma once

#include <string>
#include <vector>

#include "abi/interpreter_api.h"
#include "multipy/runtime/stacks.h"

namespace multipy::runtime {

struct StackSnapshot {
  std::vector<ThreadStack> threads;
  std::string note;  // not empty: why there are none, or not all
};

/// Must not be inside: no GIL is taken. `api` must stay valid meanwhile.
StackSnapshot takeStackSnapshot(const InterpreterApi::WithoutGil& api);

/// `File "model.py", line 40, in forward`, as Python's own tracebacks have it.
std::string toText(const StackFrame& frame);

/// What CPython's faulthandler writes, read back.
std::vector<ThreadStack> parseFaulthandlerText(const std::string& text);

}  // namespace multipy::runtime
