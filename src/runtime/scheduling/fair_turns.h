// Who gets an interpreter that becomes free while calls wait in line for one.
//
// A thread that makes one short call after the other keeps its interpreter: to wake another thread
// takes some 50 us, longer than such a call, and the interpreter would idle meanwhile. Once a
// millisecond it goes to the first in line all the same, so calls that take longer than that are
// served in the order of arrival.
//
// The time is an argument wherever it counts.
//
// Threads: FairTurns by one thread at a time (CallQueue's mutex); ReturningThread by any, each
// its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "runtime/scheduling/call_cost.h"

namespace multipy::runtime {

using SchedulingTime = std::chrono::steady_clock::time_point;

class FairTurns {
 public:
  /// `spareCores`: those that no interpreter needs.
  FairTurns(std::size_t interpreters, int spareCores)
      : lastGiven_(interpreters), spareCores_(spareCores) {}

  enum class Next {
    First,     // the first in line has it
    Anyone,    // it is free, to the one that comes first
    WokenToo,  // the same, and the first in line is woken to be one of them
  };

  /// A call that was expected to take `took` (zero: a session, or not known) has left interpreter
  /// `where`. `returns`: the thread that leaves has come back at once the last time.
  Next next(int where, SchedulingTime now, CallCost::Duration took, bool returns) const noexcept;

  /// Interpreter `where` goes to one in line.
  void given(int where, SchedulingTime now) noexcept {
    lastGiven_[static_cast<std::size_t>(where)] = now;
  }

 private:
  std::vector<SchedulingTime> lastGiven_;
  const int spareCores_;
};

/// Whether the calling thread makes one call after the other: then its place is not worth a
/// wake-up.
class ReturningThread {
 public:
  /// It has left an interpreter of `queue`, in which others wait. (Never followed: it may be gone.)
  static void left(const void* queue, SchedulingTime now) noexcept {
    of_.queue = queue;
    of_.at = now;
  }
  /// It has left one and has not come for one since.
  static bool isAway() noexcept { return of_.queue != nullptr; }
  /// It comes for one, of that queue.
  static void came(const void* queue, SchedulingTime now) noexcept;
  /// Whether it came back at once the last time.
  static bool cameBack() noexcept { return of_.cameBack; }

 private:
  struct Of {
    const void* queue = nullptr;
    SchedulingTime at;
    bool cameBack = false;
  };
  static constinit thread_local Of of_;
};

}  // namespace multipy::runtime
