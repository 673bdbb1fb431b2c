#include "runtime/scheduling/fair_turns.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

// How often an interpreter goes to the first in line although its user would come back for it,
constexpr auto kFairness = 1ms;
// unless its calls are so short that the first in line, woken before, spins for it.
constexpr CallCost::Duration kShortCall{100};

// A thread that is back so soon makes one call after the other.
constexpr auto kAtOnce = 20us;

}  // namespace

FairTurns::Next FairTurns::next(int where, SchedulingTime now, CallCost::Duration took,
                                bool returns) const noexcept {
  const bool due = now - lastGiven_[static_cast<std::size_t>(where)] > kFairness;
  const bool isShort = took.count() != 0 && took < kShortCall && spareCores_ > 0;
  if (due && !isShort) return Next::First;
  return due || !returns ? Next::WokenToo : Next::Anyone;
}

constinit thread_local ReturningThread::Of ReturningThread::of_;

void ReturningThread::came(const void* queue, SchedulingTime now) noexcept {
  // One that goes on with another manager is not back here.
  of_.cameBack = of_.queue == queue && now - of_.at < kAtOnce;
  of_.queue = nullptr;
}

}  // namespace multipy::runtime
