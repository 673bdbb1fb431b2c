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
// if there were no line. Calls from inside an interpreter, and sessions, never wait.
//
// Threads: all members from any thread. wait() waits, with no GIL held.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "runtime/interpreter/interpreter_core.h"
#include "runtime/scheduling/call_cost.h"
#include "runtime/scheduling/expected_costs.h"
#include "runtime/scheduling/fair_turns.h"
#include "runtime/scheduling/free_gil_looks.h"
#include "runtime/scheduling/interpreter_users.h"
#include "runtime/scheduling/waiting_line.h"

namespace multipy::runtime {

class CallQueue {
 public:
  using Cores = std::vector<std::shared_ptr<InterpreterCore>>;

  /// A call's place in an interpreter.
  struct Admission {
    int where;
    Share share = Share::Alone;
    CallCost::Duration expected{};  // what it was expected to cost
  };

  /// `cores` outlives this, and is not read before the first call.
  CallQueue(InterpreterUsers& users, const Cores& cores);

  /// Admits a call, until leave(). Waits for an interpreter if it must.
  Admission enter(const CallCost& cost) noexcept {
    if (ReturningThread::isAway()) [[unlikely]]
      ReturningThread::came(this, Clock::now());
    const int free = users_.acquireFree();
    Admission admission = free >= 0 ? Admission{free} : wait(cost);
    admission.expected = cost.expected();
    costs_.begin(admission.where, admission.share, admission.expected);
    return admission;
  }
  void leave(Admission admission) noexcept;

  /// The same for a session: never waits, and says nothing of what it will cost.
  int joinForSession() noexcept;
  void leaveSession(int where) noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  // A call that has found no free interpreter.
  struct Seeker {
    const CallCost& cost;
    const Clock::time_point since;
    FreeGilLooks<> looks;
  };

  struct alignas(64) Sessions {  // a cache line each: they are written all the time
    std::atomic<std::size_t> open{0};
  };

  Admission wait(const CallCost& cost) noexcept;
  Admission anywhere() noexcept;
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
  const Cores& cores_;
  ExpectedCosts costs_;
  const std::unique_ptr<Sessions[]> sessions_;  // the other users of an interpreter are calls
  const int spareCores_;
  std::atomic<int> looking_{0};  // threads in whereGilStaysFree(): they burn a core each

  std::atomic<std::size_t> waiting_{0};  // how many are in line; written under mutex_
  base::Mutex mutex_;
  WaitingLine line_ MULTIPY_GUARDED_BY(mutex_);
  FairTurns turns_ MULTIPY_GUARDED_BY(mutex_);
  // How often an interpreter was left while some waited.
  std::size_t freed_ MULTIPY_GUARDED_BY(mutex_) = 0;
};

}  // namespace multipy::runtime
