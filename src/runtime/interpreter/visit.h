// Being counted among an interpreter's operations, without its GIL: for looks at what
// must not be shut down meanwhile.
//
//   const Visit visit(core);
//   if (visit && core.api().gilIsFree()) ...
//
// Threads: made and destroyed by one thread.
#pragma once

#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {

class Visit {
 public:
  /// None if the interpreter is being shut down.
  explicit Visit(InterpreterCore& core) noexcept
      : core_(core.tryBeginOperation() ? &core : nullptr) {}
  /// Throws HandleError then, and in a forked child; `doing` as in "list an
  /// interpreter's libraries".
  Visit(InterpreterCore& core, const char* doing) : core_(&core) { core.beginOperation(doing); }
  ~Visit() {
    if (core_) core_->endOperation();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  explicit operator bool() const noexcept { return core_ != nullptr; }

 private:
  InterpreterCore* const core_;
};

}  // namespace multipy::runtime
