// How a PoolKeeper has as many interpreters as there is work for (SizingRules says when), and how
// the last ones leave.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "runtime/manager_state.h"
#include "runtime/pool_keeper.h"

namespace multipy::runtime {

using namespace std::chrono_literals;

void PoolKeeper::lastIs(std::size_t seat) noexcept {
  seatCount_.store(seat + 1, std::memory_order_release);
  manager_.queued.allowThreads(seat + 1);
  resized_ = Clock::now();
}

void PoolKeeper::shrinkTo(std::size_t n) noexcept {
  for (std::size_t seat = seats(); seat > n; --seat) {
    seatCount_.store(seat - 1, std::memory_order_release);
    seats_[seat - 1]->exchange(nullptr);
    int place;
    {
      const base::Lock lock(mutex_);
      place = servingIn(seat - 1);
    }
    if (place >= 0) leave(place, InterpreterState::Leaving, std::nullopt);
  }
  // Calls that nothing waits for have a thread to wait in line with, where there is none.
  manager_.queued.allowThreads(std::max<std::size_t>(n, 1));
  resized_ = Clock::now();
}

/// Whether it has had nothing to do for as long as one has that is to leave.
bool PoolKeeper::isIdle(int place, Clock::time_point now) noexcept {
  const auto core = manager_.places.coreAt(place);
  const bool isUsed = manager_.users.users(place) != 0 || !core || core->guests() != 0;
  const std::uint64_t calls = manager_.calls.made(place);
  const base::Lock lock(mutex_);
  Record& record = records_[static_cast<std::size_t>(place)];
  if (!record.isThere || record.state != InterpreterState::Serving) return false;
  if (isUsed || calls != std::exchange(record.callsSeen, calls)) record.lastUse = now;
  return now - record.lastUse >= sizing_.shrinkAfter();
}

void PoolKeeper::followLoad() noexcept {
  if (!sizing_.areOn()) return;
  const Change change(*this);
  const auto now = Clock::now();
  SizingRules::Facts facts{.interpreters = seats(), .waited = {}, .sinceChange = now - resized_};
  for (const auto& oldest : {manager_.queue.oldest(), manager_.queued.oldest()})
    if (oldest) facts.waited = std::max(facts.waited.value_or(0ns), now - *oldest);
  for (std::size_t i = 0; i < placesUsed(); ++i) facts.idle += isIdle(static_cast<int>(i), now);
  const std::size_t wanted = sizing_.wanted(facts);
  if (wanted > facts.interpreters) {
    if (!tryStartIn(facts.interpreters)) return;
    lastIs(facts.interpreters);
    const base::Lock lock(mutex_);
    ++counts_.grown;
  } else if (wanted < facts.interpreters) {
    shrinkTo(wanted);
    const base::Lock lock(mutex_);
    counts_.shrunk += facts.interpreters - wanted;
  }
}

}  // namespace multipy::runtime
