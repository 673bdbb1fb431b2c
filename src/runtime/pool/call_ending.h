// Ends calls whose time has come: interrupts them, asks for that again and again while they go on,
// and once they have gone on for longer than the grace period, gives their interpreter up.
//
//   deadline, or a stop          interrupt, and again after 2, 4, 8 ... 100 ms: the exception is
//   raised
//                                once, but a signal that wakes a blocked thread can come just
//                                before the thread blocks
//   grace period later           give its interpreter up (once); the rest goes on
//
// Threads: all members from any thread. What is told to the `Interpreters` is told by the timer's.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>

#include "base/mutex.h"
#include "runtime/pool/call_records.h"
#include "runtime/pool/timer.h"

namespace multipy::runtime {

/// What is done to them. The functions wait for nothing and throw nothing.
class Interpreters {
 public:
  /// Raises multipy.Interrupted in the call's thread, soon, if it is under way then. Asked for
  /// again: sees to it that it is raised, if it has not been yet.
  virtual void interrupt(CallId id, EndReason reason) noexcept = 0;
  virtual bool isUnderWay(CallId id) const noexcept = 0;
  /// The call does not end: its interpreter gets no other one.
  virtual void giveUp(CallId id) noexcept = 0;

 protected:
  ~Interpreters() = default;
};

class CallEnding {
 public:
  CallEnding(Timer& timer, Interpreters& interpreters, std::chrono::nanoseconds grace)
      : timer_(timer), interpreters_(interpreters), grace_(grace) {}

  /// Ends the call at `when`, unless it is over by then. An earlier time counts. Throws
  /// EnvironmentError (no thread for the timer) and std::bad_alloc.
  void endAt(Timer::Time when, CallId id, EndReason reason);
  /// The call is over.
  void over(CallId id) noexcept;

  /// How long until the interrupt number `tries` (from 1 on) is followed by another one.
  static std::chrono::milliseconds pause(int tries) noexcept;

 private:
  struct Ending {
    EndReason reason = EndReason::None;
    Timer::Time first;  // when it is interrupted for the first time
    int tries = 0;
    bool givenUp = false;
    Timer::Id next = 0;
  };
  void interruptNow(CallId id) noexcept;
  void schedule(CallId id, Ending& ending, Timer::Time when) MULTIPY_REQUIRES(mutex_);

  Timer& timer_;
  Interpreters& interpreters_;
  const std::chrono::nanoseconds grace_;
  base::Mutex mutex_;
  std::map<CallId, Ending> endings_ MULTIPY_GUARDED_BY(mutex_);
};

}  // namespace multipy::runtime
