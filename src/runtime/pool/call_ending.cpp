#include "runtime/pool/call_ending.h"

#include <algorithm>
#include <exception>

namespace multipy::runtime {

std::chrono::milliseconds CallEnding::pause(int tries) noexcept {
  constexpr int kLongest = 100;
  return std::chrono::milliseconds(tries < 6 ? 1 << tries : kLongest);
}

void CallEnding::endAt(Timer::Time when, CallId id, EndReason reason) {
  const base::Lock lock(mutex_);
  const auto [place, isNew] = endings_.try_emplace(id);
  Ending& ending = place->second;
  if (!isNew && ending.first <= when) return;
  timer_.cancel(ending.next);
  ending.reason = reason;
  ending.first = when;
  try {
    schedule(id, ending, when);
  } catch (...) {
    endings_.erase(place);
    throw;
  }
}

void CallEnding::schedule(CallId id, Ending& ending, Timer::Time when) {
  ending.next = timer_.at(when, [this, id] { interruptNow(id); });
}

void CallEnding::over(CallId id) noexcept {
  const base::Lock lock(mutex_);
  const auto place = endings_.find(id);
  if (place == endings_.end()) return;
  timer_.cancel(place->second.next);
  endings_.erase(place);
}

void CallEnding::interruptNow(CallId id) noexcept {
  EndReason reason;
  bool giveUp = false;
  {
    const base::Lock lock(mutex_);
    const auto place = endings_.find(id);
    if (place == endings_.end()) return;  // over by now
    if (!interpreters_.isUnderWay(id)) {
      endings_.erase(place);
      return;
    }
    Ending& ending = place->second;
    reason = ending.reason;
    const auto now = Timer::Time::clock::now();
    giveUp = !ending.givenUp && now - ending.first >= grace_;
    ending.givenUp |= giveUp;
    auto next = now + pause(++ending.tries);
    if (!ending.givenUp)
      next =
          std::min(next, ending.first + std::chrono::duration_cast<Timer::Time::duration>(grace_));
    try {
      schedule(id, ending, next);
    } catch (const std::exception&) {
      ending.next = 0;  // no memory for another one: this interrupt is the last
    }
  }
  interpreters_.interrupt(id, reason);
  if (giveUp) interpreters_.giveUp(id);
}

}  // namespace multipy::runtime
