#include "runtime/call_queue.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "base/cpu_pause.h"
#include "base/interpreter_id.h"
#include "process/fork_guard.h"
#include "process/ownership.h"
#include "runtime/interpreter/visit.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

// How often an interpreter goes to the first in line although its user would come back
// for it at once. To wake a thread takes some 50 us, in which the interpreter idles,
constexpr auto kFairness = 1ms;
// unless the thread was woken before and spins, which is worth it for short calls.
constexpr CallCost::Duration kShortCall{100};
constexpr auto kLongestSpin = 150us;

// A thread that is back so soon makes one call after the other.
constexpr auto kAtOnce = 20us;

// An interpreter is joined when its GIL has stayed free: all along each of some looks,
// which are longer than torch's short operators take, with a pause between them. More
// looks where several calls are inside: while they hand the GIL to each other it is
// free as well, until the one that gets it has been woken.
constexpr auto kLook = 16us;
constexpr auto kBetweenGlances = 2us;
constexpr int kLooksAtOne = 2;
constexpr int kLooksAtSeveral = 4;

// How long the first in line sleeps until it looks again. A GIL that has become free
// wakes no thread.
constexpr microseconds kShortestSleep{100};
constexpr microseconds kLongestSleep{800};

// A call is costlier by so much that another one need not wait for its end.
constexpr std::uint32_t kMuchCostlier = 8;

// When nothing has become free for so long, or for eight times what the calls inside
// were expected to take, then one more goes in wherever it may be.
constexpr microseconds kLeastLongPatience{100'000};
constexpr unsigned kTimesExpected = 8;

void spinFor(std::chrono::nanoseconds time) noexcept {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) base::cpuPause();
}

}  // namespace

CallQueue::CallQueue(LoadBalancer& balancer, const Cores& cores)
    : balancer_(balancer),
      cores_(cores),
      lines_(std::make_unique<Line[]>(cores.size())),
      // Those that run calls have the cores first.
      spareCores_(static_cast<int>(std::thread::hardware_concurrency()) -
                  static_cast<int>(cores.size())) {}

constinit thread_local const CallQueue* CallQueue::leftFrom = nullptr;
constinit thread_local CallQueue::Clock::time_point CallQueue::leftAt;
constinit thread_local bool CallQueue::comesBack = false;

// --- waiting

CallQueue::Place CallQueue::anywhere() noexcept {
  return {.where = balancer_.acquire(), .beside = true};
}

CallQueue::Place CallQueue::wait(const CallCost& cost) noexcept {
  // Called by code that runs in an interpreter: those before it in line may wait for
  // that very code.
  if (process::Ownership::entered() != InterpreterId::none()) return anywhere();
  if (process::inForkedChild()) return anywhere();  // which is refused on entering
  static constinit std::atomic<std::size_t> calls{0};
  Seen seen{.since = Clock::now(), .first = calls.fetch_add(1, std::memory_order_relaxed)};
  if (const auto place = lookAround(cost, seen)) return *place;

  Waiter me;
  std::unique_lock lock(mutex_);
  // Counted first, then looked: who leaves an interpreter does it the other way round.
  waiting_.fetch_add(1);
  if (const int free = balancer_.acquireFree(); free >= 0) {
    waiting_.fetch_sub(1);
    return {free};
  }
  (last_ ? last_->next : first_) = &me;
  last_ = &me;

  std::optional<Place> place;
  while (!place) {
    if (me.given >= 0)
      place = Place{me.given};
    else if (first_ == &me)
      place = waitAsFirst(me, cost, seen, lock);
    else
      me.wakeUp.wait(lock);
  }
  if (me.given < 0) removeFirst();
  lines_[place->where].lastGiven = Clock::now();
  if (first_) first_->wakeUp.notify_one();  // it may not know that it is
  return *place;
}

/// With the lock, which is given up meanwhile. Nothing: it has been given one.
std::optional<CallQueue::Place> CallQueue::waitAsFirst(
    Waiter& me, const CallCost& cost, Seen& seen, std::unique_lock<std::mutex>& lock) noexcept {
  auto sleep = kShortestSleep;
  auto since = Clock::now();
  std::size_t freedBefore = freed_;
  while (me.given < 0) {
    firstAwake_ = true;
    const bool called = std::exchange(me.called, false);
    lock.unlock();
    std::optional<Place> found;
    if (called && spareCores_ > 0) found = spinForOne(me);
    if (!found && me.given < 0) found = lookAround(cost, seen);
    lock.lock();
    if (me.given >= 0) {
      if (!found) break;
      lock.unlock();
      leave(*found);
      lock.lock();
      break;
    }
    if (found) return found;
    if (const int free = balancer_.acquireFree(); free >= 0) return Place{free};
    const auto now = Clock::now();
    if (freed_ != freedBefore) {
      freedBefore = freed_;
      since = now;
    } else if (now - since > longPatience()) {
      return anywhere();
    }
    firstAwake_ = false;
    me.wakeUp.wait_for(lock, sleep);
    sleep = std::min(2 * sleep, kLongestSleep);
  }
  return std::nullopt;
}

std::optional<CallQueue::Place> CallQueue::spinForOne(const Waiter& me) noexcept {
  const auto end = Clock::now() + kLongestSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (me.given.load(std::memory_order_relaxed) >= 0) return std::nullopt;
      if (const int free = balancer_.acquireFree(); free >= 0) return Place{free};
      base::cpuPause();
    }
  } while (Clock::now() < end);
  return std::nullopt;
}

void CallQueue::removeFirst() noexcept {
  first_ = first_->next;
  if (!first_) last_ = nullptr;
  firstAwake_ = false;
  waiting_.fetch_sub(1);
}

/// Wakes the first in line, unless it looks by itself just now.
void CallQueue::callFirst() noexcept {
  if (!first_ || firstAwake_) return;
  firstAwake_ = true;
  first_->called = true;
  first_->wakeUp.notify_one();
}

microseconds CallQueue::longPatience() const noexcept {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < balancer_.limit(); ++i)
    most = std::max(most, inside(static_cast<int>(i)));
  return std::max(kLeastLongPatience, microseconds(std::uint64_t{most} * kTimesExpected));
}

// --- looking

std::optional<CallQueue::Place> CallQueue::lookAround(const CallCost& cost, Seen& seen) noexcept {
  if (const auto place = whereNobodyIs()) return place;
  if (const auto place = besideCostlier(cost.expected())) return place;
  std::optional<Place> place;
  if (looking_.fetch_add(1) < std::max(spareCores_, 1))
    place = whereGilStaysFree(cost.expected(), seen);
  looking_.fetch_sub(1);
  return place;
}

/// A free one, or one in use by sessions alone, which do nothing just now. One that has
/// been shut down is such a one, too: the caller will be told.
std::optional<CallQueue::Place> CallQueue::whereNobodyIs() noexcept {
  if (const int free = balancer_.acquireFree(); free >= 0) return Place{free};
  for (std::size_t i = 0; i < balancer_.limit(); ++i) {
    const int where = static_cast<int>(i);
    const std::size_t sessions = lines_[i].sessions.load(std::memory_order_relaxed);
    if (sessions == 0 || cores_[i]->operationsInside() != 0) continue;
    if (balancer_.joinIf(where, sessions)) return Place{where};
  }
  return std::nullopt;
}

std::optional<CallQueue::Place> CallQueue::besideCostlier(CallCost::Duration cost) noexcept {
  if (cost.count() == 0) return std::nullopt;  // perhaps it is expensive itself
  for (std::size_t i = 0; i < balancer_.limit(); ++i) {
    const int where = static_cast<int>(i);
    if (inside(where) / kMuchCostlier < cost.count() || balancer_.isSetAside(where)) continue;
    if (lines_[i].highPriority.exchange(true)) continue;
    balancer_.join(where);
    return Place{.where = where, .highPriority = true};
  }
  return std::nullopt;
}

/// Joins an interpreter whose GIL is free. Not, for a while, where one of those inside and
/// this one is much costlier than the other and no priority makes up for it: each time that the
/// cheap one wants the GIL it could have to wait for the expensive one.
std::optional<CallQueue::Place> CallQueue::join(int where, CallCost::Duration cost,
                                                const Seen& seen) noexcept {
  const std::uint32_t mine = cost.count(), theirs = inside(where);
  const bool alike =
      mine == 0 || theirs == 0 || (mine / kMuchCostlier < theirs && theirs / kMuchCostlier < mine);
  const auto cheaper = microseconds(std::uint64_t{std::min(mine, theirs)} * kTimesExpected);
  if (!alike && Clock::now() - seen.since < cheaper) return std::nullopt;
  balancer_.join(where);
  return Place{.where = where, .beside = true};
}

/// One look: an interpreter that has been joined, or that has become free meanwhile.
std::optional<CallQueue::Place> CallQueue::whereGilStaysFree(CallCost::Duration cost,
                                                             Seen& seen) noexcept {
  const std::size_t limit = balancer_.limit();
  const std::size_t n = std::min(limit, kMostLookedAt);
  std::array<std::uint64_t, kMostLookedAt> calls{};  // 0: the GIL was held, or no thread may enter
  const auto end = Clock::now() + kLook;
  for (bool begin = true; begin || Clock::now() < end; begin = false) {
    if (!begin) spinFor(kBetweenGlances);
    if (const int free = balancer_.acquireFree(); free >= 0) return Place{free};
    for (std::size_t i = 0; i < n; ++i) {
      if (!begin && calls[i] == 0) continue;
      const int where = static_cast<int>((seen.first + i) % limit);
      InterpreterCore& core = *cores_[static_cast<std::size_t>(where)];
      const Visit visit(core);
      const bool isFree = visit && !balancer_.isSetAside(where) && core.api().gilIsFree();
      calls[i] = isFree ? core.operationsInside() - 1 : 0;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    int& looks = seen.looksWithGilFree[i];
    looks = calls[i] == 0 ? 0 : looks + 1;
    if (looks < (calls[i] == 1 ? kLooksAtOne : kLooksAtSeveral)) continue;
    const int where = static_cast<int>((seen.first + i) % limit);
    if (const auto place = join(where, cost, seen)) return place;
  }
  return std::nullopt;
}

// --- leaving

void CallQueue::leave(Place place) noexcept {
  Line& line = lines_[place.where];
  if (place.highPriority) {
    line.highPriority.store(false);
    return leave(place.where, CallCost::kLeast);
  }
  if (place.beside) [[unlikely]]
    line.beside.fetch_sub(place.expected, std::memory_order_relaxed);
  else
    line.running.store(0, std::memory_order_relaxed);
  leave(place.where, CallCost::Duration(place.expected));
}

int CallQueue::joinForSession() noexcept {
  const int where = balancer_.acquire();
  lines_[where].sessions.fetch_add(1, std::memory_order_relaxed);
  return where;
}

void CallQueue::leaveSession(int where) noexcept {
  lines_[where].sessions.fetch_sub(1, std::memory_order_relaxed);
  leave(where, CallCost::Duration::zero());
}

void CallQueue::leave(int where, CallCost::Duration expected) noexcept {
  if (waiting_.load() != 0) [[unlikely]]
    return leaveToNext(where, expected);
  balancer_.free(where);
  if (waiting_.load() == 0) [[likely]]
    return;
  // One that came in between has looked before this was free.
  const std::lock_guard lock(mutex_);
  callFirst();
}

void CallQueue::leaveToNext(int where, CallCost::Duration expected) noexcept {
  if (process::inForkedChild()) return balancer_.free(where);  // no thread waits here
  const auto now = Clock::now();
  leftFrom = this;
  leftAt = now;
  const std::lock_guard lock(mutex_);
  ++freed_;
  Line& line = lines_[where];
  const bool due = now - line.lastGiven > kFairness;
  const bool isShort = expected.count() != 0 && expected < kShortCall && spareCores_ > 0;
  if (first_ && due && !isShort && balancer_.users(where) == 1 && !balancer_.isSetAside(where)) {
    line.lastGiven = now;
    Waiter& next = *first_;
    next.given = where;
    removeFirst();
    next.wakeUp.notify_one();
    return;
  }
  balancer_.free(where);
  if (due || !comesBack) callFirst();
}

void CallQueue::noteReturn() noexcept {
  // Who goes on with another manager is not back here.
  comesBack = leftFrom == this && Clock::now() - leftAt < kAtOnce;
  leftFrom = nullptr;
}

}  // namespace multipy::runtime
