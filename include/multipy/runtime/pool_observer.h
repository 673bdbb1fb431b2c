// What a manager tells of each call when it has ended, and of its interpreters as they come and go:
// for traces and logs.
//
//   class Log final : public PoolObserver {
//     void callEnded(const CallReport& call) noexcept override {
//       write(call.tag, call.model, call.ended - call.asked, call.error);
//     }
//   };
//   options.observer = std::make_shared<Log>();
//
// Without an observer a call pays one read of a flag for this. With one it reads the clock three
// times, which the statistics do for one short call in many.
//
// Threads: an observer is told by many threads at once: of a call by the thread that made it, which
// is outside of that call's interpreter by then (but may be inside another one, whose code has made
// the call); of a call that left the line unmade by the thread that ended it; of interpreters by
// the thread that starts or ends them. It may use the manager, but while it is told of an
// interpreter, not to change the pool (HandleError). The manager keeps it until it is replaced and
// the calls have ended that began before.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "multipy/runtime/call_options.h"
#include "multipy/runtime/pool_options.h"

namespace multipy::runtime {

/// What became of a call.
enum class CallEnd {
  Returned,   // a value
  Raised,     // PythonException, or another error
  QueueFull,  // QueueFullError
  Deadline,   // DeadlineExceededError
  Cancelled,  // CancelledError
};

/// One call of a ReplicatedObj that has ended. What it refers to lives while the observer is told.
struct CallReport {
  using Clock = CallOptions::Clock;  // of the times

  std::uint64_t id = 0;    // no other call of the manager has the same; 0: it has not begun
  std::string_view model;  // what errors and figures call it: "file.pkl of package"
  std::string_view tag;    // CallOptions::tag
  CallPriority priority = CallPriority::Normal;  // that it was asked for with
  int interpreter = -1;                          // Interpreter::slot(); -1: it has not begun
  Clock::time_point asked;                       // the program called
  Clock::time_point begun;  // it had its interpreter and the GIL; as `ended`, if it has not begun
  Clock::time_point ended;  // it is outside of the interpreter again
  CallEnd end = CallEnd::Returned;  // what became of it
  std::string_view error;           // what() of what the caller gets; empty: it has returned
};

/// An interpreter that has come, gone, or not come.
struct InterpreterChange {
  /// What has happened.
  enum class What {
    Started,      // configured and warmed up; it gets calls from now on
    Leaves,       // it gets no calls any more
    Ended,        // it is shut down
    CannotStart,  // and is tried again later, where the pool wants it
  };
  What what = What::Started;                // happened
  int interpreter = -1;                     // Interpreter::slot(); -1: CannotStart
  std::optional<ReplacementReason> reason;  // Leaves: nothing if the pool gets smaller
  std::string_view error;                   // CannotStart: why
};

/// What is told; each function does nothing unless it is overridden.
class PoolObserver {
 public:
  virtual ~PoolObserver() = default;
  /// Once for each call, at its end.
  virtual void callEnded(const CallReport& /*call*/) noexcept {}
  /// An interpreter has come, gone, or not come.
  virtual void interpreterChanged(const InterpreterChange& /*change*/) noexcept {}
};

}  // namespace multipy::runtime
