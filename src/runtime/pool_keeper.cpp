#include "runtime/pool_keeper.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/parallel_for.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/environment.h"
#include "process/fork_guard.h"
#include "runtime/interpreter/gil.h"
#include "runtime/interpreter/visit.h"
#include "runtime/manager_state.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 100ms;

// One that broke sooner than this may well do so again.
constexpr auto kSoon = 60s;

}  // namespace

PoolKeeper::PoolKeeper(ManagerState& manager, std::size_t n)
    : manager_(manager),
      options_(manager.options.pool.replacement),
      rules_(options_),
      sizing_(manager.options.pool.sizing, n, manager.places.cores.size()),
      warmUp_(std::move(manager.options.warmUp)),
      records_(manager.places.cores.size()),
      replacedIn_(records_.size()) {
  seats_.reserve(records_.size());
  while (seats_.size() < records_.size()) seats_.push_back(std::make_shared<Seat>());
}

// --- starting

InterpreterOptions PoolKeeper::optionsOf(std::size_t seat) const {
  InterpreterOptions options = manager_.options.interpreters;
  if (manager_.options.adjust) manager_.options.adjust(seat, options);
  checkOptions(options);
  return options;
}

void PoolKeeper::startFirst(std::size_t n) {
  const Change change(*this);
  std::vector<InterpreterOptions> each;
  for (std::size_t i = 0; i < n; ++i) each.push_back(optionsOf(i));
  auto& cores = manager_.places.cores;
  base::parallelFor(
      n, [&](std::size_t i) { cores[i] = InterpreterCore::start(manager_.recipe, each[i]); });
  for (std::size_t i = 0; i < n; ++i) settle(static_cast<int>(i), i, cores[i]);
  seatCount_.store(n, std::memory_order_release);
  for (std::size_t i = 0; i < n; ++i) {
    Lent lent(*this, i);
    manager_.options.environment->configureInterpreter(&lent.handle);
  }
  warmUpAll(warmUp_);
  for (std::size_t i = 0; i < n; ++i)
    tell(InterpreterChange::What::Started, cores[i]->slot().number());
  resized_ = Clock::now();
  if (rules_.haveLimits() || sizing_.areOn()) wake();
}

void PoolKeeper::warmUpAll(const WarmUp& warmUp) {
  if (!warmUp) return;
  base::parallelFor(seats(), [&](std::size_t i) {
    if (!seats_[i]->core()) return;
    const Lent lent(*this, i);
    warmUp(lent.handle);
  });
}

PoolKeeper::Lent::Lent(PoolKeeper& keeper, std::size_t seat)
    : handle(keeper.seats_[seat], keeper.manager_.shared_from_this()) {}

/// It is in `place` from now on, and what breaks it is told.
void PoolKeeper::settle(int place, std::size_t seat, const std::shared_ptr<InterpreterCore>& core) {
  core->whenBroken([weak = manager_.weak_from_this(), place] {
    if (const auto manager = weak.lock()) manager->keeper.noteBroken(place);
  });
  {
    const base::Lock lock(manager_.places.mutex);
    manager_.places.cores[static_cast<std::size_t>(place)] = core;
  }
  seats_[seat]->exchange(core);
  const double random = std::uniform_real_distribution<double>()(random_);
  const std::uint64_t calls = manager_.calls.made(place);
  const auto now = Clock::now();
  const base::Lock lock(mutex_);
  records_[static_cast<std::size_t>(place)] = {.isThere = true,
                                               .seat = seat,
                                               .since = now,
                                               .callsBefore = calls,
                                               .callsSeen = calls,
                                               .lastUse = now,
                                               .limits = rules_.limits(random),
                                               .asked = {}};
}

void PoolKeeper::noteBroken(int place) noexcept {
  manager_.users.setAside(place);
  if (options_.whenBroken) ask(place, ReplacementReason::Broken);
}

void PoolKeeper::startIn(std::size_t seat) {
  const int place = freePlace();
  const auto core = InterpreterCore::start(manager_.recipe, optionsOf(seat));
  // Shuts it down where this fails.
  const auto ownSeat = std::make_shared<Seat>(core);
  Interpreter handle(ownSeat, manager_.shared_from_this());
  manager_.options.environment->configureInterpreter(&handle);
  if (warmUp_) warmUp_(handle);
  settle(place, seat, core);
  ownSeat->exchange(nullptr);
  manager_.users.open(place);
  tell(InterpreterChange::What::Started, core->slot().number());
  if (core->isBroken()) noteBroken(place);  // by its warm-up, before that could be told
}

int PoolKeeper::freePlace() const {
  const base::Lock lock(mutex_);
  const auto place =
      std::ranges::find_if(records_, [](const Record& each) { return !each.isThere; });
  if (place == records_.end())
    throw EnvironmentError("cannot start another interpreter: there are " +
                           std::to_string(records_.size()) +
                           ", as many as a process can have; end some, or wait until those that "
                           "have been replaced have ended");
  return static_cast<int>(place - records_.begin());
}

bool PoolKeeper::tryStartIn(std::size_t seat) noexcept {
  {
    const base::Lock lock(mutex_);
    if (stopped_ || Clock::now() < notBefore_ || leaving() >= options_.mostLeaving) return false;
  }
  std::string why;
  try {
    startIn(seat);
    const base::Lock lock(mutex_);
    failures_ = 0;
    counts_.whyFailed.clear();
    return true;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "the warm-up function threw what is no std::exception";
  }
  {
    const base::Lock lock(mutex_);
    ++counts_.failed;
    notBefore_ = Clock::now() + ReplacementRules::pause(++failures_);
    counts_.whyFailed = why;
  }
  tell(InterpreterChange::What::CannotStart, -1, std::nullopt, why);
  return false;
}

// --- leaving

/// It gets no calls any more. Another one may sit in its seat by now.
bool PoolKeeper::leave(int place, InterpreterState as,
                       std::optional<ReplacementReason> reason) noexcept {
  manager_.users.close(place);
  {
    const base::Lock lock(mutex_);
    Record& record = records_[static_cast<std::size_t>(place)];
    if (std::exchange(record.state, as) != InterpreterState::Serving) return false;
    if (reason) ++replacedIn_[record.seat][static_cast<std::size_t>(*reason)];
  }
  if (const auto core = manager_.places.coreAt(place))
    tell(InterpreterChange::What::Leaves, core->slot().number(), reason);
  return true;
}

void PoolKeeper::replaceIn(int place, std::size_t seat, ReplacementReason reason) noexcept {
  const bool isCondemned = reason == ReplacementReason::Condemned;
  if (!isCondemned && !tryStartIn(seat)) return;
  const bool served =
      leave(place, isCondemned ? InterpreterState::Condemned : InterpreterState::Leaving, reason);
  if (!served || reason != ReplacementReason::Broken) return;
  const base::Lock lock(mutex_);
  const auto age = Clock::now() - records_[static_cast<std::size_t>(place)].since;
  brokenSoon_ = age < kSoon ? brokenSoon_ + 1 : 0;
}

/// Seats whose interpreter has been condemned.
void PoolKeeper::fillSeats() noexcept {
  for (std::size_t seat = 0; seat < seats(); ++seat) {
    const Change change(*this);
    if (seat >= seats()) return;  // by a resize
    {
      const base::Lock lock(mutex_);
      if (servingIn(seat) >= 0) continue;
    }
    if (!tryStartIn(seat)) return;
  }
}

void PoolKeeper::retireDrained() noexcept {
  const Change change(*this);
  for (std::size_t i = 0; i < placesUsed(); ++i) {
    const int place = static_cast<int>(i);
    {
      const base::Lock lock(mutex_);
      if (!records_[i].isThere || records_[i].state == InterpreterState::Serving) continue;
    }
    std::shared_ptr<InterpreterCore> core = manager_.places.coreAt(place);
    if (manager_.users.users(place) != 0 || core->guests() != 0) continue;
    {
      const base::Lock lock(manager_.places.mutex);
      manager_.places.cores[i].reset();
    }
    manager_.tallies.startOver(place);
    {
      const base::Lock lock(mutex_);
      // A condemned one may sit in its seat to the end.
      if (const auto& seat = seats_[records_[i].seat]; seat->core() == core)
        seat->exchange(nullptr);
      records_[i].isThere = false;
    }
    retire(std::move(core));
  }
}

// Python may wait for threads of its own there.
void PoolKeeper::retire(std::shared_ptr<InterpreterCore> core) noexcept {
  const auto end = [this, core = std::move(core)] {
    const int number = core->slot().number();
    InterpreterCore::shutDown({&core, 1});
    tell(InterpreterChange::What::Ended, number);
  };
  try {
    const base::Lock lock(mutex_);
    Retirement& retirement = retirements_.emplace_back();
    try {
      retirement.thread = std::thread([end, &retirement] {
        end();
        retirement.done = true;
      });
      return;
    } catch (...) {
      retirements_.pop_back();
      throw;
    }
  } catch (const std::exception&) {
    // No thread to be had: then by this one.
  }
  end();
}

void PoolKeeper::tell(InterpreterChange::What what, int interpreter,
                      std::optional<ReplacementReason> reason, std::string_view error) const {
  manager_.observer.tell(
      {.what = what, .interpreter = interpreter, .reason = reason, .error = error});
}

void PoolKeeper::reap() noexcept {
  std::list<Retirement> done;
  {
    const base::Lock lock(mutex_);
    for (auto each = retirements_.begin(); each != retirements_.end();) {
      const auto next = std::next(each);
      if (each->done) done.splice(done.end(), retirements_, each);
      each = next;
    }
  }
  for (Retirement& each : done) each.thread.join();
}

void PoolKeeper::letKeptGo() noexcept {
  std::list<Kept> over;
  {
    const base::Lock lock(mutex_);
    for (auto each = kept_.begin(); each != kept_.end();) {
      const auto next = std::next(each);
      std::erase_if(each->calls, [&](CallId id) { return !manager_.calls.isUnderWay(id); });
      if (each->calls.empty()) over.splice(over.end(), kept_, each);
      each = next;
    }
  }
}

// --- what is to be done

void PoolKeeper::ask(int place, ReplacementReason reason, CallId call) noexcept {
  if (process::inForkedChild()) return;
  {
    const base::Lock lock(mutex_);
    Record& record = records_[static_cast<std::size_t>(place)];
    if (!record.isThere || record.state == InterpreterState::Condemned) return;
    if (record.asked == ReplacementReason::Condemned) return;
    record.asked = reason;
    record.condemnedBy = call;
  }
  wake();
}

void PoolKeeper::wake() noexcept {
  if (process::inForkedChild()) return;
  const base::Lock lock(mutex_);
  if (stopped_) return;
  asked_ = true;
  changed_.notifyAll();
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception& error) {
    try {
      ++counts_.failed;
      counts_.whyFailed = std::string("no thread is to be had: ") + error.what();
    } catch (const std::bad_alloc&) {  // then without the reason
    }
  }
}

void PoolKeeper::run() noexcept {
  const base::Lock lock(mutex_);
  while (!stopped_) {
    if (!asked_) {
      if (mustLook())
        changed_.waitUntil(mutex_, Clock::now() + kBetweenLooks);
      else
        changed_.wait(mutex_);
    }
    if (stopped_) break;
    asked_ = false;
    mutex_.unlock();
    lookAround();
    mutex_.lock();
  }
}

bool PoolKeeper::mustLook() const {
  if (rules_.haveLimits() || sizing_.areOn()) return true;
  if (!retirements_.empty() || !kept_.empty()) return true;
  if (std::ranges::any_of(records_, [](const Record& each) {
        return each.isThere && (each.asked || each.state != InterpreterState::Serving);
      }))
    return true;
  for (std::size_t seat = 0; seat < seats(); ++seat)
    if (servingIn(seat) < 0) return true;
  return false;
}

// One change after the other, so that the program need not wait for all of them with its own.
void PoolKeeper::lookAround() noexcept {
  reap();
  letKeptGo();
  retireDrained();
  for (std::size_t i = 0; i < placesUsed(); ++i) replaceWhatIsDue(static_cast<int>(i));
  fillSeats();
  followLoad();
  retireDrained();
}

void PoolKeeper::replaceWhatIsDue(int place) noexcept {
  const Change change(*this);
  const auto reason = due(place);
  if (!reason) return;
  std::size_t seat;
  {
    const base::Lock lock(mutex_);
    seat = records_[static_cast<std::size_t>(place)].seat;
  }
  replaceIn(place, seat, *reason);
}

/// Why the interpreter in this place is to be replaced now.
std::optional<ReplacementReason> PoolKeeper::due(int place) noexcept {
  const std::shared_ptr<InterpreterCore> core = manager_.places.coreAt(place);
  if (!core) return std::nullopt;
  Record record;
  int brokenSoon;
  {
    const base::Lock lock(mutex_);
    record = records_[static_cast<std::size_t>(place)];
    brokenSoon = brokenSoon_;
  }
  const auto age = Clock::now() - record.since;
  if (record.asked == ReplacementReason::Condemned) {
    if (record.state == InterpreterState::Condemned) return std::nullopt;
    if (manager_.calls.isUnderWay(record.condemnedBy)) return ReplacementReason::Condemned;
    // It has ended after all.
    record.asked.reset();
    if (options_.afterInterrupt) record.asked = ReplacementReason::Interrupted;
    const base::Lock lock(mutex_);
    records_[static_cast<std::size_t>(place)].asked = record.asked;
  }
  if (record.state != InterpreterState::Serving) return std::nullopt;
  ReplacementRules::Facts facts{.calls = manager_.calls.made(place) - record.callsBefore,
                                .age = age,
                                .isBroken = core->isBroken()};
  if (record.limits.heapBytes != 0)
    if (const Visit visit(*core); visit) facts.heapBytes = core->api().heapBytes();
  auto reason = rules_.reason(facts, record.limits);
  if (!reason && record.asked != ReplacementReason::Broken) reason = record.asked;
  if (reason == ReplacementReason::Broken && age < ReplacementRules::pause(brokenSoon + 1))
    return std::nullopt;
  return reason;
}

// --- the end

void PoolKeeper::stop() noexcept {
  std::thread thread;
  {
    const base::Lock lock(mutex_);
    stopped_ = true;
    thread.swap(thread_);
    changed_.notifyAll();
  }
  if (thread.joinable()) thread.join();
  std::list<Retirement> retirements;
  {
    const base::Lock lock(mutex_);
    retirements.swap(retirements_);
  }
  for (Retirement& each : retirements) each.thread.join();
}

// --- figures

int PoolKeeper::servingIn(std::size_t seat) const {
  const auto place = std::ranges::find_if(records_, [&](const Record& each) {
    return each.isThere && each.seat == seat && each.state == InterpreterState::Serving;
  });
  return place == records_.end() ? -1 : static_cast<int>(place - records_.begin());
}

std::size_t PoolKeeper::leaving() const {
  const auto count = std::ranges::count_if(records_, [](const Record& each) {
    return each.isThere && each.state != InterpreterState::Serving;
  });
  return static_cast<std::size_t>(count) + retirements_.size();
}

std::size_t PoolKeeper::placesUsed() const { return manager_.users.limit(); }

std::optional<PoolKeeper::Tenant> PoolKeeper::tenant(int place) const {
  const base::Lock lock(mutex_);
  const Record& record = records_[static_cast<std::size_t>(place)];
  if (!record.isThere) return std::nullopt;
  return Tenant{record.state, record.seat, Clock::now() - record.since, record.callsBefore,
                replacedIn_[record.seat]};
}

PoolKeeper::Counts PoolKeeper::counts() const {
  const base::Lock lock(mutex_);
  Counts counts = counts_;
  for (const CountByReason& seat : replacedIn_)
    for (std::size_t i = 0; i < seat.size(); ++i) counts.replaced[i] += seat[i];
  for (const Record& each : records_) {
    if (!each.isThere) continue;
    counts.leaving += each.state == InterpreterState::Leaving;
    counts.condemned += each.state == InterpreterState::Condemned;
  }
  counts.leaving += retirements_.size();
  return counts;
}

}  // namespace multipy::runtime
