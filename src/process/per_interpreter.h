// A function of each interpreter's, for something that torch has one of per process.
//
// Threads: all members from any thread.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "process/ownership.h"

namespace multipy::process {

template <typename Function>
class PerInterpreter {
 public:
  /// The resident copy's functions are not wanted: no thread is ever in the resident copy.
  void set(int slot, void* function) noexcept {
    if (slot >= 0 && slot < kMaxInterpreters)
      functions_[slot].store(reinterpret_cast<Function>(function));
  }
  void clear(int slot) noexcept { functions_[slot].store(nullptr); }
  /// Of the interpreter that the calling thread is in, or null.
  Function current() const noexcept {
    const int slot = Ownership::instance().current();
    return slot == kNone ? nullptr : functions_[slot].load();
  }

 private:
  std::array<std::atomic<Function>, kMaxInterpreters> functions_{};
};

/// Gives torch our `function`, once, by its own `set`: when the first interpreter
/// comes with one of its own.
template <auto set, auto function>
void installOnce() {
  static std::once_flag once;
  std::call_once(once, [] { set(function); });
}

}  // namespace multipy::process
