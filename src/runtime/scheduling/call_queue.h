// Where calls wait when every interpreter of a manager is busy.
//
// Without it a call would sit down on a busy interpreter and wait for its GIL. That
// costs more than waiting: torch gives the GIL up around each operator, so two calls
// in one interpreter take it from each other all the time, each time by way of the
// kernel. Eight threads on two interpreters then get a sixth of what two threads get.
// Here each interpreter does one call after the other, and the others wait outside.
//
//   a call  ──► a free interpreter? ── yes ──► runs
//               │ no
//               ├─ one whose GIL is free (it sleeps, reads, computes in long
//               │  operators)? joins it, unless one of the two is much costlier
//               ├─ one that does something much costlier? joins it, with priority
//               └─ waits in line; the first in line looks around again and again
//
// What is asked on the way has files of its own:
//
//   waiting_line.h     who waits, and who is woken
//   fair_turns.h       who gets an interpreter that becomes free
//   expected_costs.h   which calls may share one
//   free_gil_looks.h   whose GIL stays free
//
// Nothing depends on a call's end: one that blocks leaves the GIL free, which the first
// in line sees; one that neither ends nor gives up the GIL is joined after a while, as
// if there were no line. Calls from inside an interpreter, and sessions that are given no options,
// never wait, unless there is no interpreter at all.
//
// A wait can be limited: by a deadline, a stop token, the length of the line. It ends at that very
// moment, with nothing taken. A call with a deadline is not one of those that go in beside calls
// which keep the GIL: it would have to wait for that, too, and with no limit.
//
// Threads: all members from any thread. wait() waits, with no GIL held.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "multipy/runtime/call_options.h"
#include "runtime/interpreter/interpreter_core.h"
#include "runtime/scheduling/call_cost.h"
#include "runtime/scheduling/expected_costs.h"
#include "runtime/scheduling/fair_turns.h"
#include "runtime/scheduling/free_gil_looks.h"
#include "runtime/scheduling/interpreter_users.h"
#include "runtime/scheduling/waiting_line.h"

namespace multipy::runtime {

/// The interpreters by the place that each is in; null where there is none. A place is changed
/// while it is closed and without users (InterpreterUsers), with the lock; users read theirs
/// without it, and others with it.
struct InterpreterPlaces {
  explicit InterpreterPlaces(std::size_t n) : cores(n) {}
  /// By one that may be no user of it.
  std::shared_ptr<InterpreterCore> coreAt(int place) {
    const base::SharedLock lock(mutex);
    return cores[static_cast<std::size_t>(place)];
  }
  std::vector<std::shared_ptr<InterpreterCore>> cores;
  base::SharedMutex mutex;
};

/// How many calls may wait: of all, and of each priority.
struct QueueBounds {
  std::size_t all = SIZE_MAX;
  std::array<std::size_t, kCallPriorities> of{SIZE_MAX, SIZE_MAX, SIZE_MAX};
};

class CallQueue {
 public:
  /// Why a call was not admitted.
  enum class Refusal { None, QueueFull, DeadlinePassed, Stopped, Ended };

  /// A call's place in an interpreter.
  struct Admission {
    int where = -1;
    Share share = Share::Alone;
    CallCost::Duration expected{};  // what it was expected to cost
    Refusal refused = Refusal::None;
    std::chrono::nanoseconds waited{};  // in line
  };

  CallQueue(InterpreterUsers& users, InterpreterPlaces& places, const QueueBounds& bounds);

  /// Why a call with these options (none: null) is not to begin any more.
  static Refusal refusalOf(const CallOptions* options) noexcept;

  /// Admits a call, until leave(). Waits for an interpreter if it must, within the limits of
  /// `options` (none: null). What has been refused has no place and is not left.
  Admission enter(const CallCost& cost, const CallOptions* options = nullptr) noexcept {
    if (ReturningThread::isAway()) [[unlikely]]
      ReturningThread::came(this, Clock::now());
    const int free = users_.acquireFree();
    Admission admission = free >= 0 ? Admission{free} : wait(cost, options);
    if (admission.refused != Refusal::None) [[unlikely]]
      return admission;
    admission.expected = cost.expected();
    costs_.begin(admission.where, admission.share, admission.expected);
    return admission;
  }
  void leave(Admission admission) noexcept;

  /// The same for a session, of which it is not known what it will cost. Without options it waits
  /// only if there is no interpreter.
  Admission joinForSession(const CallOptions* options = nullptr) noexcept;
  void leaveSession(int where) noexcept;

  /// `waiting` is called by each thread that is about to wait in line. It throws nothing and waits
  /// for nothing. Before the first call.
  void whenOneWaits(std::function<void()> waiting) { whenOneWaits_ = std::move(waiting); }
  /// From now on none waits: those in line, and later ones that find no interpreter, are refused.
  void end() noexcept;

  /// How many calls are in line.
  std::size_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
  /// Since when the one waits that has waited for longest. Nothing: none does.
  std::optional<CallOptions::Clock::time_point> oldest() noexcept {
    if (waiting() == 0) return std::nullopt;
    const base::Lock lock(mutex_);
    return line_.oldest();
  }
  /// How many of each priority.
  std::array<std::size_t, kCallPriorities> waitingByPriority() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  // A call that has found no free interpreter.
  struct Seeker {
    const CallCost& cost;
    const CallOptions* options;  // or null
    const Clock::time_point since;
    FreeGilLooks<> looks;

    Clock::time_point deadline() const noexcept {
      return options && options->deadline ? *options->deadline : Clock::time_point::max();
    }
    bool hasDeadline() const noexcept { return options && options->deadline; }
    /// Whether it goes in anywhere if nothing becomes free for long.
    bool mayJoinAny() const noexcept { return !options || !(options->deadline || options->alone); }
  };

  struct alignas(64) Sessions {  // a cache line each: they are written all the time
    std::atomic<std::size_t> open{0};
  };

  Admission wait(const CallCost& cost, const CallOptions* options) noexcept;
  Admission waitInLine(Seeker& seeker) noexcept;
  void leaveLine(Waiter& me) noexcept MULTIPY_REQUIRES(mutex_);
  bool lineIsFull(CallPriority priority) const MULTIPY_REQUIRES(mutex_);
  std::optional<Admission> anywhere() noexcept;
  std::optional<Admission> takeFree() noexcept;
  std::optional<Admission> lookAround(Seeker& seeker) noexcept;
  std::optional<Admission> withPriority(CallCost::Duration cost) noexcept;
  std::optional<Admission> whereOnlyIdleSessionsAre() noexcept;
  std::optional<Admission> whereGilStaysFree(Seeker& seeker) noexcept;
  std::optional<Admission> waitAsFirst(Waiter& me, Seeker& seeker) noexcept
      MULTIPY_REQUIRES(mutex_);
  std::optional<Admission> spinForOne(const Waiter& me) noexcept;
  void leave(int where, CallCost::Duration took) noexcept;
  void leaveToNext(int where, CallCost::Duration took) noexcept;
  bool mayBeGiven(int where) const MULTIPY_REQUIRES(mutex_);

  InterpreterUsers& users_;
  InterpreterPlaces& places_;
  const QueueBounds bounds_;
  ExpectedCosts costs_;
  const std::unique_ptr<Sessions[]> sessions_;  // the other users of an interpreter are calls
  const int spareCores_;
  std::function<void()> whenOneWaits_;
  std::atomic<int> looking_{0};  // threads in whereGilStaysFree(): they burn a core each

  std::atomic<std::size_t> waiting_{0};  // how many are in line; written under mutex_
  base::Mutex mutex_;
  WaitingLine line_ MULTIPY_GUARDED_BY(mutex_);
  FairTurns turns_ MULTIPY_GUARDED_BY(mutex_);
  bool ended_ MULTIPY_GUARDED_BY(mutex_) = false;
  // How often an interpreter was left while some waited.
  std::size_t freed_ MULTIPY_GUARDED_BY(mutex_) = 0;
};

}  // namespace multipy::runtime
