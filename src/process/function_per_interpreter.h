// A function of each interpreter's, for something that torch has one of per process.
// (The program's own Python is one of them: InterpreterId::program().)
//
// Threads: all members from any thread.
#pragma once

#include <atomic>
#include <mutex>

#include "base/per_interpreter.h"
#include "process/ownership.h"

namespace multipy::process {

template <typename Function>
class FunctionPerInterpreter {
 public:
  /// The resident copy's functions are not wanted: no thread is ever in the resident copy.
  void set(InterpreterId slot, void* function) noexcept {
    if (slot.isInterpreter()) functions_[slot].store(reinterpret_cast<Function>(function));
  }
  void clear(InterpreterId slot) noexcept { functions_[slot].store(nullptr); }
  /// Of the interpreter that the calling thread is in, or else of the program's own; or null.
  Function current() const noexcept {
    const InterpreterId slot = Ownership::instance().currentPython();
    return slot == InterpreterId::none() ? nullptr : functions_[slot].load();
  }

 private:
  PerInterpreter<std::atomic<Function>> functions_{};
};

/// Whether torch has been given our `function` by its own `set`.
template <auto set, auto function>
std::once_flag& installed() {
  static std::once_flag once;
  return once;
}

/// Gives it to torch, once: when the first interpreter comes with one of its own.
template <auto set, auto function>
void installOnce() {
  std::call_once(installed<set, function>(), [] { set(function); });
}

}  // namespace multipy::process
