// Holding the other interpreters while one of them runs os.fork().
//
// The child of os.fork() has one thread, which goes on with Python, torch included. A library
// that the process has once, libtorch_cpu for one, guards its tables with locks of its own, which
// a thread has for a moment in the midst of a call. In a process with one Python the caller has
// the GIL meanwhile, so no other thread is in os.fork(). With N GILs a thread of another
// interpreter may have such a lock at that moment; in the child it has it for ever. So before
// os.fork() the housekeeping thread of each other interpreter takes the GIL of its own one, and
// gives it up when the process has been forked. No thread has two GILs.
//
// All are asked at once. They are waited for kPatience at most: a thread that keeps its GIL for
// longer, in C code that does not come back or because it waits for the thread that forks, would
// hold that one up for ever. An interpreter that is being ended is not waited for.
//
// Threads: every function from any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/interpreter_id.h"
#include "process/interpreter_threads.h"

namespace multipy::runtime {

class InterpreterCore;

/// Just before the calling thread, which is in `slot`, forks; it holds no GIL. Nothing in the
/// child of a fork.
void holdOthersForFork(InterpreterId slot) noexcept;
/// After that, in the process that has been forked.
void letOthersGoAfterFork() noexcept;

/// One interpreter's part in it: takes its GIL, says so, and keeps it until the fork is over.
class ForkHold final : public process::Task {
 public:
  explicit ForkHold(InterpreterCore& core) noexcept : core_(core) {}

  void run() noexcept override;

 private:
  friend class Forks;

  InterpreterCore& core_;
  std::atomic<bool> given_{false};  // to the housekeeping thread, which has not begun with it
  std::uint64_t answered_ = 0;      // the last fork that need not wait for it; guarded by Forks
};

}  // namespace multipy::runtime
