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
  histogram.sum =
      std::chrono::duration<double>(std::chrono::nanoseconds(sum_.load(std::memory_order_relaxed)))
          .count();
  return histogram;
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
  Errors& errors = errors_[static_cast<std::size_t>(place)];
  const base::Lock lock(errors.mutex);
  try {
    const bool isNew = !errors.byType.contains(type);
    ++errors.byType[isNew && errors.byType.size() >= kMostTypes ? "(other types)" : type];
  } catch (const std::exception&) {
    // Not counted: the call's own error goes on.
  }
}

std::map<std::string, std::uint64_t> CallTallies::errors(int place) const {
  const Errors& errors = errors_[static_cast<std::size_t>(place)];
  const base::Lock lock(errors.mutex);
  return errors.byType;
}

void CallTallies::startOver(int place) noexcept {
  std::map<std::string, std::uint64_t> gone;
  {
    Errors& errors = errors_[static_cast<std::size_t>(place)];
    const base::Lock lock(errors.mutex);
    gone.swap(errors.byType);
  }
  const base::Lock lock(earlier_.mutex);
  try {
    for (const auto& [type, count] : gone) earlier_.byType[type] += count;
  } catch (const std::bad_alloc&) {
    // Not counted any more.
  }
}

std::map<std::string, std::uint64_t> CallTallies::earlierErrors() const {
  const base::Lock lock(earlier_.mutex);
  return earlier_.byType;
}

}  // namespace multipy::runtime
