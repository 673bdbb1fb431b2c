#include "runtime/pool/call_tallies.h"

#include <algorithm>
#include <exception>

namespace multipy::runtime {

void DurationTally::add(std::chrono::nanoseconds time, std::uint64_t times) noexcept {
  const double seconds = std::chrono::duration<double>(time).count();
  const auto bound = std::lower_bound(DurationHistogram::kBounds.begin(),
                                      DurationHistogram::kBounds.end(), seconds);
  const auto which = static_cast<std::size_t>(bound - DurationHistogram::kBounds.begin());
  counts_[which].fetch_add(times, std::memory_order_relaxed);
  sum_.fetch_add(time.count() * static_cast<std::int64_t>(times), std::memory_order_relaxed);
}

DurationHistogram DurationTally::read() const noexcept {
  DurationHistogram histogram;
  for (std::size_t i = 0; i < counts_.size(); ++i)
    histogram.counts[i] = counts_[i].load(std::memory_order_relaxed);
  histogram.sum = std::chrono::nanoseconds(sum_.load(std::memory_order_relaxed));
  return histogram;
}

void DurationTally::clear() noexcept {
  for (auto& count : counts_) count.store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
}

EndedCalls CallTallies::ended() const noexcept {
  const auto count = [&](Ending how) {
    return ended_[static_cast<std::size_t>(how)].load(std::memory_order_relaxed);
  };
  return {.queueFull = count(Ending::QueueFull),
          .deadlineInLine = count(Ending::DeadlineInLine),
          .cancelledInLine = count(Ending::CancelledInLine),
          .deadlineRunning = count(Ending::DeadlineRunning),
          .cancelledRunning = count(Ending::CancelledRunning)};
}

void CallTallies::failed(int place, const std::string& type) noexcept {
  Place& here = at(place);
  const base::Lock lock(here.mutex);
  try {
    const bool isNew = !here.errors.contains(type);
    ++here.errors[isNew && here.errors.size() >= kMostTypes ? "(other types)" : type];
  } catch (const std::exception&) {
    // Not counted: the call's own error goes on.
  }
}

CallTallies::Figures& CallTallies::Figures::operator+=(const Figures& other) {
  queueTime += other.queueTime;
  gilWait += other.gilWait;
  runTime += other.runTime;
  interrupts += other.interrupts;
  for (const auto& [type, count] : other.errors) errors[type] += count;
  return *this;
}

CallTallies::Figures CallTallies::Place::read() const {
  return {.queueTime = queueTime.read(),
          .gilWait = gilWait.read(),
          .runTime = runTime.read(),
          .interrupts = interrupts.load(std::memory_order_relaxed),
          .errors = errors};
}

void CallTallies::startOver(int place) noexcept {
  Place& here = at(place);
  const base::Lock moving(mutex_);
  ++startedOver_;
  const base::Lock lock(here.mutex);
  try {
    earlier_ += here.read();
  } catch (const std::bad_alloc&) {
    // Errors of some types are not counted any more.
  }
  here.queueTime.clear();
  here.gilWait.clear();
  here.runTime.clear();
  here.interrupts.store(0, std::memory_order_relaxed);
  here.errors.clear();
}

std::uint64_t CallTallies::startedOver() const {
  const base::Lock lock(mutex_);
  return startedOver_;
}

CallTallies::All CallTallies::read(std::size_t places) const {
  All all;
  all.now.reserve(places);
  const base::Lock lock(mutex_);
  for (std::size_t i = 0; i < places; ++i) {
    const base::Lock each(places_[i].mutex);
    all.now.push_back(places_[i].read());
  }
  all.earlier = earlier_;
  all.startedOver = startedOver_;
  return all;
}

}  // namespace multipy::runtime
