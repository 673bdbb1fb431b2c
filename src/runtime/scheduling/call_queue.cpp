#include "runtime/scheduling/call_queue.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/cpu_pause.h"
#include "base/interpreter_id.h"
#include "base/mutex.h"
#include "process/fork_guard.h"
#include "process/ownership.h"
#include "runtime/interpreter/visit.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

// How long the first in line sleeps until it looks again. A GIL that has become free
// wakes no thread.
constexpr microseconds kShortestSleep{100};
constexpr microseconds kLongestSleep{800};

// How long it spins once it has been woken since an interpreter becomes free.
constexpr auto kLongestSpin = 150us;

// Those that run calls have the cores first.
int spareCores(std::size_t interpreters) {
  return static_cast<int>(std::thread::hardware_concurrency()) - static_cast<int>(interpreters);
}

}  // namespace

CallQueue::CallQueue(InterpreterUsers& users, InterpreterPlaces& places, const QueueBounds& bounds)
    : users_(users),
      places_(places),
      bounds_(bounds),
      costs_(places.cores.size()),
      sessions_(std::make_unique<Sessions[]>(places.cores.size())),
      spareCores_(spareCores(users.limit())),
      turns_(places.cores.size(), spareCores_) {}

// --- waiting

std::optional<CallQueue::Admission> CallQueue::anywhere() noexcept {
  const int where = users_.acquire();
  if (where < 0) return std::nullopt;
  return Admission{.where = where, .share = Share::Beside};
}

std::optional<CallQueue::Admission> CallQueue::takeFree() noexcept {
  const int free = users_.acquireFree();
  return free >= 0 ? std::optional(Admission{free}) : std::nullopt;
}

CallQueue::Refusal CallQueue::refusalOf(const CallOptions* options) noexcept {
  if (!options) return Refusal::None;
  if (options->stop.stop_requested()) return Refusal::Stopped;
  const bool isLate = options->deadline && Clock::now() >= *options->deadline;
  return isLate ? Refusal::DeadlinePassed : Refusal::None;
}

CallQueue::Admission CallQueue::wait(const CallCost& cost, const CallOptions* options) noexcept {
  // Called by code that runs in an interpreter: those before it in line may wait for
  // that very code. Or in a forked child: it is refused on entering.
  if (process::Ownership::entered() != InterpreterId::none() || process::inForkedChild())
    if (const auto found = anywhere()) return *found;
  static constinit std::atomic<std::size_t> calls{0};
  Seeker seeker{cost, options, Clock::now(),
                FreeGilLooks<>(calls.fetch_add(1, std::memory_order_relaxed))};
  if (const Refusal refused = refusalOf(options); refused != Refusal::None)
    return {.refused = refused};
  if (const auto found = lookAround(seeker)) return *found;
  if (whenOneWaits_) whenOneWaits_();
  return waitInLine(seeker);
}

CallQueue::Admission CallQueue::waitInLine(Seeker& seeker) noexcept {
  const CallOptions none;
  const CallOptions& options = seeker.options ? *seeker.options : none;
  Waiter me(options.priority, seeker.since);
  // Ends before the waiter and after the lock: its destructor waits for a call that wants the lock.
  const std::stop_callback onStop(options.stop, [&]() noexcept {
    const base::Lock lock(mutex_);
    me.stopped = true;
    me.wakeUp.notifyOne();
  });
  const base::Lock lock(mutex_);
  // Counted first, then looked: who leaves an interpreter does it the other way round.
  waiting_.fetch_add(1);
  if (const auto free = takeFree()) {
    waiting_.fetch_sub(1);
    return *free;
  }
  if (ended_) {
    waiting_.fetch_sub(1);
    return {.refused = Refusal::Ended};
  }
  if (lineIsFull(me.priority)) {
    waiting_.fetch_sub(1);
    return {.refused = Refusal::QueueFull};
  }
  line_.add(me);

  std::optional<Admission> admission;
  while (!admission) {
    if (me.given >= 0)
      admission = Admission{me.given};
    else if (ended_)
      admission = Admission{.refused = Refusal::Ended};
    else if (const Refusal refused = refusalOf(seeker.options); refused != Refusal::None)
      admission = Admission{.refused = refused};
    else if (line_.first() == &me)
      admission = waitAsFirst(me, seeker);
    else if (seeker.hasDeadline())
      me.wakeUp.waitUntil(mutex_, seeker.deadline());
    else
      me.wakeUp.wait(mutex_);
  }
  if (me.given < 0) leaveLine(me);
  if (admission->refused == Refusal::None) turns_.given(admission->where, Clock::now());
  line_.tellFirst();
  admission->waited = Clock::now() - seeker.since;
  return *admission;
}

bool CallQueue::lineIsFull(CallPriority priority) const {
  return line_.size() >= bounds_.all ||
         line_.size(priority) >= bounds_.of[static_cast<std::size_t>(priority)];
}

void CallQueue::end() noexcept {
  const base::Lock lock(mutex_);
  ended_ = true;
  for (Waiter* each = line_.first(); each; each = each->behind) each->wakeUp.notifyOne();
}

void CallQueue::leaveLine(Waiter& me) noexcept {
  line_.remove(me);
  waiting_.fetch_sub(1);
  // Woken since an interpreter is free, which it may have left to others.
  if (me.called) line_.callFirst();
}

/// Gives the lock up meanwhile. Nothing: it has been given one, is not the first any more, or shall
/// wait no longer.
std::optional<CallQueue::Admission> CallQueue::waitAsFirst(Waiter& me, Seeker& seeker) noexcept {
  auto sleep = kShortestSleep;
  auto since = Clock::now();
  std::size_t freedBefore = freed_;
  while (me.given < 0 && line_.first() == &me && !me.stopped && !ended_) {
    line_.firstIsAwake(true);
    const bool called = std::exchange(me.called, false);
    mutex_.unlock();
    std::optional<Admission> found;
    if (called && spareCores_ > 0) found = spinForOne(me);
    if (!found && me.given < 0) found = lookAround(seeker);
    mutex_.lock();
    if (me.given >= 0) {
      if (!found) break;
      mutex_.unlock();
      leave(*found);
      mutex_.lock();
      break;
    }
    if (found) return found;
    if (const auto free = takeFree()) return free;
    const auto now = Clock::now();
    if (now >= seeker.deadline()) break;
    if (freed_ != freedBefore) {
      freedBefore = freed_;
      since = now;
    } else if (seeker.mayJoinAny() && now - since > costs_.patience(users_.limit())) {
      if (const auto anyOne = anywhere()) return anyOne;
    }
    if (line_.first() != &me) break;
    line_.firstIsAwake(false);
    me.wakeUp.waitUntil(mutex_, std::min(now + sleep, seeker.deadline()));
    sleep = std::min(2 * sleep, kLongestSleep);
  }
  return std::nullopt;
}

std::optional<CallQueue::Admission> CallQueue::spinForOne(const Waiter& me) noexcept {
  const auto end = Clock::now() + kLongestSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (me.given.load(std::memory_order_relaxed) >= 0) return std::nullopt;
      if (const auto free = takeFree()) return free;
      base::cpuPause();
    }
  } while (Clock::now() < end);
  return std::nullopt;
}

// --- looking

std::optional<CallQueue::Admission> CallQueue::lookAround(Seeker& seeker) noexcept {
  if (const auto free = takeFree()) return free;
  if (seeker.options && seeker.options->alone) return std::nullopt;
  const base::SharedLock lock(places_.mutex);
  if (const auto found = whereOnlyIdleSessionsAre()) return found;
  if (const auto found = withPriority(seeker.cost.expected())) return found;
  std::optional<Admission> found;
  if (looking_.fetch_add(1) < std::max(spareCores_, 1)) found = whereGilStaysFree(seeker);
  looking_.fetch_sub(1);
  return found;
}

/// One in use by sessions alone, which do nothing just now. One that has been shut down is such
/// a one, too: the caller will be told.
std::optional<CallQueue::Admission> CallQueue::whereOnlyIdleSessionsAre() noexcept {
  for (std::size_t i = 0; i < users_.limit(); ++i) {
    const int where = static_cast<int>(i);
    const std::size_t sessions = sessions_[i].open.load(std::memory_order_relaxed);
    const InterpreterCore* const core = places_.cores[i].get();
    if (sessions == 0 || !core || core->operationsInside() != 0) continue;
    if (users_.joinIf(where, sessions)) return Admission{where};
  }
  return std::nullopt;
}

std::optional<CallQueue::Admission> CallQueue::withPriority(CallCost::Duration cost) noexcept {
  for (std::size_t i = 0; i < users_.limit(); ++i) {
    const int where = static_cast<int>(i);
    if (users_.isSetAside(where) || !costs_.claimPriority(where, cost)) continue;
    if (users_.join(where)) return Admission{.where = where, .share = Share::Priority};
    costs_.end(where, Share::Priority, cost);
  }
  return std::nullopt;
}

/// One look: an interpreter that has been joined, or that has become free meanwhile.
std::optional<CallQueue::Admission> CallQueue::whereGilStaysFree(Seeker& seeker) noexcept {
  std::optional<Admission> found;
  const auto callsInsideWithGilFree = [&](int where) -> std::uint64_t {
    InterpreterCore* const core = places_.cores[static_cast<std::size_t>(where)].get();
    if (!core || users_.isClosed(where) || users_.isSetAside(where)) return 0;
    const Visit visit(*core);
    return visit && core->api().gilIsFree() ? core->operationsInside() - 1 : 0;
  };
  const auto oneIsFree = [&] {
    found = takeFree();
    return found.has_value();
  };
  const auto join = [&](int where) {
    const auto waited = Clock::now() - seeker.since;
    if (!costs_.mayJoin(where, seeker.cost.expected(), waited)) return false;
    if (!users_.join(where)) return false;
    found = Admission{.where = where, .share = Share::Beside};
    return true;
  };
  seeker.looks.look(users_.limit(), callsInsideWithGilFree, oneIsFree, join);
  return found;
}

// --- leaving

void CallQueue::leave(Admission admission) noexcept {
  costs_.end(admission.where, admission.share, admission.expected);
  leave(admission.where,
        admission.share == Share::Priority ? CallCost::kLeast : admission.expected);
}

CallQueue::Admission CallQueue::joinForSession(const CallOptions* options) noexcept {
  if (const Refusal refused = refusalOf(options); refused != Refusal::None)
    return {.refused = refused};
  static constinit const CallCost unknown;
  std::optional<Admission> admission;
  if (!options) admission = anywhere();
  if (!admission) {
    CallOptions alone = options ? *options : CallOptions();
    alone.alone = true;
    admission = takeFree();
    if (!admission) admission = wait(unknown, &alone);
  }
  if (admission->refused == Refusal::None)
    sessions_[admission->where].open.fetch_add(1, std::memory_order_relaxed);
  return *admission;
}

void CallQueue::leaveSession(int where) noexcept {
  sessions_[where].open.fetch_sub(1, std::memory_order_relaxed);
  leave(where, CallCost::Duration::zero());
}

void CallQueue::leave(int where, CallCost::Duration took) noexcept {
  if (waiting_.load() != 0) [[unlikely]]
    return leaveToNext(where, took);
  users_.free(where);
  if (waiting_.load() == 0) [[likely]]
    return;
  // One that came in between has looked before this was free.
  const base::Lock lock(mutex_);
  line_.callFirst();
}

/// There is one to give it to, and no other user is inside.
bool CallQueue::mayBeGiven(int where) const {
  return line_.first() && users_.users(where) == 1 && !users_.isSetAside(where) &&
         !users_.isClosed(where);
}

std::array<std::size_t, kCallPriorities> CallQueue::waitingByPriority() noexcept {
  const base::Lock lock(mutex_);
  return {line_.size(CallPriority::Low), line_.size(CallPriority::Normal),
          line_.size(CallPriority::High)};
}

void CallQueue::leaveToNext(int where, CallCost::Duration took) noexcept {
  if (process::inForkedChild()) return users_.free(where);  // no thread waits here
  const auto now = Clock::now();
  ReturningThread::left(this, now);
  const base::Lock lock(mutex_);
  ++freed_;
  FairTurns::Next next = turns_.next(where, now, took, ReturningThread::cameBack());
  if (next == FairTurns::Next::First && !mayBeGiven(where)) next = FairTurns::Next::WokenToo;
  switch (next) {
    case FairTurns::Next::First:
      turns_.given(where, now);
      line_.giveFirst(where);
      waiting_.fetch_sub(1);
      return;
    case FairTurns::Next::WokenToo:
      users_.free(where);
      line_.callFirst();
      return;
    case FairTurns::Next::Anyone:
      users_.free(where);
      return;
  }
}

}  // namespace multipy::runtime
