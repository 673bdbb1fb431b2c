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
// An interpreter that becomes free is free to anyone: a thread that makes one short call
// after the other keeps it, since to wake another thread takes longer than the call. Once
// a millisecond (kFairness) it goes to the first in line all the same, so calls that take
// longer than that are served in the order of arrival.
//
// Nothing depends on a call's end: one that blocks leaves the GIL free, which the first
// in line sees; one that neither ends nor gives up the GIL is joined after a while, as
// if there were no line. Calls from inside an interpreter, and sessions, never wait.
//
// Threads: all members from any thread. wait() waits, with no GIL held.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "multipy/runtime/load_balancer.h"
#include "runtime/call_cost.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {

class CallQueue {
 public:
  using Cores = std::vector<std::shared_ptr<InterpreterCore>>;

  struct Place {
    int where;
    /// It shares the interpreter with a call that takes much longer: Entered::Priority::High.
    bool highPriority = false;
    /// It shares it otherwise.
    bool beside = false;
    /// What it was expected to cost, for leave().
    std::uint32_t expected = 0;  // microseconds
  };

  /// `cores` outlives this, and is not read before the first call.
  CallQueue(LoadBalancer& balancer, const Cores& cores);

  /// A place for a call, given back with leave(). Waits for one if it must.
  Place enter(const CallCost& cost) noexcept {
    if (leftFrom) [[unlikely]]
      noteReturn();
    const int free = balancer_.acquireFree();
    Place place = free >= 0 ? Place{free} : wait(cost);
    place.expected = cost.expected().count();
    count(place);
    return place;
  }
  void leave(Place place) noexcept;

  /// The same for a session: never waits, and says nothing of what it will cost.
  int joinForSession() noexcept;
  void leaveSession(int where) noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kMostLookedAt = 4;

  // What a call has seen of some interpreters since it came, in looks that follow one
  // another with pauses.
  struct Seen {
    Clock::time_point since;                            // it came
    std::size_t first;                                  // it looks at those from here on
    std::array<int, kMostLookedAt> looksWithGilFree{};  // without an exception until now
  };

  struct Waiter {
    std::condition_variable wakeUp;
    std::atomic<int> given = -1;  // the interpreter that was handed over; written under mutex_
    Waiter* next = nullptr;       // behind it in line
    bool called = false;          // woken since an interpreter becomes free
  };

  // The queue in which others waited when this thread left an interpreter, if it has not
  // come for one since (never followed: the queue may be gone), and when that was; and did
  // it come back at once the last time? Then the place is not worth a wake-up.
  static constinit thread_local const CallQueue* leftFrom;
  static constinit thread_local Clock::time_point leftAt;
  static constinit thread_local bool comesBack;

  // Of one interpreter. A cache line each: they are written all the time.
  struct alignas(64) Line {
    // Microseconds that the call may take which found it free, and all that joined that one,
    // but for the one with priority.
    std::atomic<std::uint32_t> running{0};
    std::atomic<std::uint32_t> beside{0};
    std::atomic<bool> highPriority{false};  // one with priority is in it, too
    std::atomic<std::size_t> sessions{0};   // open ones; the other users are calls
    Clock::time_point lastGiven{};          // guarded by mutex_: last, to one in line
  };

  // A place that was free has one owner, who alone writes `running`.
  void count(const Place& place) noexcept {
    Line& line = lines_[place.where];
    if (place.beside) [[unlikely]]
      line.beside.fetch_add(place.expected, std::memory_order_relaxed);
    else if (!place.highPriority)
      line.running.store(place.expected, std::memory_order_relaxed);
  }
  /// Microseconds that the calls in an interpreter may take, those with priority left out.
  std::uint32_t inside(int where) const noexcept {
    const Line& line = lines_[where];
    return line.running.load(std::memory_order_relaxed) +
           line.beside.load(std::memory_order_relaxed);
  }

  Place wait(const CallCost& cost) noexcept;
  Place anywhere() noexcept;
  std::optional<Place> lookAround(const CallCost& cost, Seen& seen) noexcept;
  std::optional<Place> besideCostlier(CallCost::Duration cost) noexcept;
  std::optional<Place> whereNobodyIs() noexcept;
  std::optional<Place> whereGilStaysFree(CallCost::Duration cost, Seen& seen) noexcept;
  std::optional<Place> join(int where, CallCost::Duration cost, const Seen& seen) noexcept;
  std::optional<Place> waitAsFirst(Waiter& me, const CallCost& cost, Seen& seen,
                                   std::unique_lock<std::mutex>& lock) noexcept;
  std::optional<Place> spinForOne(const Waiter& me) noexcept;
  void removeFirst() noexcept;
  void callFirst() noexcept;
  void noteReturn() noexcept;
  void leave(int where, CallCost::Duration expected) noexcept;
  void leaveToNext(int where, CallCost::Duration expected) noexcept;
  std::chrono::microseconds longPatience() const noexcept;

  LoadBalancer& balancer_;
  const Cores& cores_;
  const std::unique_ptr<Line[]> lines_;
  const int spareCores_;
  std::atomic<int> looking_{0};  // threads in whereGilStaysFree(): they burn a core each

  std::atomic<std::size_t> waiting_{0};  // written under mutex_
  std::mutex mutex_;
  // Guarded by mutex_:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  bool firstAwake_ = false;  // it looks by itself before it sleeps
  std::size_t freed_ = 0;    // how often an interpreter was left while some waited
};

}  // namespace multipy::runtime
