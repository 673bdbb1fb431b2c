// Interrupting a call that is under way in an interpreter.
//
// It takes that interpreter's GIL, for which no thread of the program may wait: the interpreter's
// housekeeping thread does it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "process/wake_signal.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {

/// A call under way.
struct InterruptTarget {
  void* threadState;                      // its PyThreadState
  const process::WakeableThread* thread;  // its own
  bool again;                             // whether it has been interrupted before
  std::uint64_t startedBy;  // the threads started by this call are interrupted with it; 0: none are
};

/// A call that is to be interrupted. Both functions are called with the GIL of its interpreter,
/// which a call takes to end; they throw nothing and wait for nothing.
class CallToInterrupt {
 public:
  virtual ~CallToInterrupt() = default;
  /// Nothing: it is over.
  virtual std::optional<InterruptTarget> find() const noexcept = 0;
  /// multipy.Interrupted is pending in its thread, for the first time.
  virtual void interrupted() const noexcept = 0;
};

/// Soon raises multipy.Interrupted in the call's thread, once, and wakes it as long as that has not
/// come about, since it may be in a system call. Nothing happens if the interpreter is shut down
/// meanwhile, or the call must not be interrupted just now (InterpreterApi::WithGil::interrupt).
/// Threads: any. Throws std::bad_alloc.
void interruptSoon(const std::shared_ptr<InterpreterCore>& core,
                   std::shared_ptr<const CallToInterrupt> call);

}  // namespace multipy::runtime
