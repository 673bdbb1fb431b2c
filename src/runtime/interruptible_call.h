// A call in an interpreter, from the moment at which its thread has the GIL until it gives that up:
// written down among those of its manager, and ended when its options or the program say so.
//
// Threads: by the call's own.
#pragma once

#include <optional>
#include <stop_token>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/call_options.h"
#include "runtime/interpreter/gil.h"
#include "runtime/manager_state.h"
#include "runtime/pool/call_records.h"

namespace multipy::runtime {

class InterruptibleCall {
 public:
  /// `options`: null, or it outlives this. Throws DeadlineExceededError and CancelledError if the
  /// call need not begin any more; EnvironmentError if there is no thread to watch over its
  /// deadline.
  InterruptibleCall(ManagerState& manager, const Turn& turn, const Entered& inside,
                    const std::string* name, const CallOptions* options)
      : manager_(manager),
        inside_(inside),
        name_(name),
        record_(manager.calls, turn.place(), turn.alone(), name, inside.threadState()) {
    if (options) [[unlikely]]
      watch(*options);
  }
  /// What interrupts it has not raised yet is not raised any more.
  ~InterruptibleCall() {
    if (watched_ || record_.interrupted() != EndReason::None) [[unlikely]]
      end();
  }
  InterruptibleCall(const InterruptibleCall&) = delete;
  InterruptibleCall& operator=(const InterruptibleCall&) = delete;

  CallId id() const noexcept { return record_.id(); }
  /// It begins now, with this turn.
  void begins(const Turn& turn) noexcept {
    record_.countAsMade();
    if (turn.waited().count() != 0) [[unlikely]]
      manager_.tallies.waited(turn.place(), turn.waited());
  }

  /// Python has raised that: throws what it stands for if the call was interrupted.
  void raised(const PythonException& error) const {
    if (record_.interrupted() != EndReason::None)
      manager_.throwEnded(record_.id(), record_.interrupted(), "call " + *name_, error.what());
  }

 private:
  struct Stop {
    InterruptibleCall& call;
    void operator()() const noexcept { call.stop(); }
  };
  void watch(const CallOptions& options);
  void stop() noexcept;
  void wakeThreadsLater() const noexcept;
  void end() noexcept;

  ManagerState& manager_;
  const Entered& inside_;
  const std::string* const name_;
  CallRecord record_;
  bool watched_ = false;
  bool withThreads_ = false;
  CallId outer_ = 0;  // the call that this thread's Python code belonged to before
  std::optional<std::stop_callback<Stop>> onStop_;
};

}  // namespace multipy::runtime
