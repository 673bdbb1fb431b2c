// Counts what becomes of a manager's calls: in all, and in each place.
//
// Threads: all members from any thread; none waits but for a table of errors, or for the figures of
// places that are being read, for a moment.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "multipy/runtime/pool_stats.h"

namespace multipy::runtime {

/// A DurationHistogram that many threads write.
class DurationTally {
 public:
  /// `times` calls took so long.
  void add(std::chrono::nanoseconds time, std::uint64_t times = 1) noexcept;
  DurationHistogram read() const noexcept;
  void clear() noexcept;

 private:
  std::array<std::atomic<std::uint64_t>, DurationHistogram::kBounds.size() + 1> counts_{};
  std::atomic<std::int64_t> sum_{0};  // nanoseconds
};

class CallTallies {
 public:
  /// What EndedCalls has.
  enum class Ending {
    QueueFull,
    DeadlineInLine,
    CancelledInLine,
    DeadlineRunning,
    CancelledRunning
  };
  /// Of the calls of an interpreter, or of all that a place has had before.
  struct Figures {
    DurationHistogram queueTime, gilWait, runTime;
    std::uint64_t interrupts = 0;
    std::map<std::string, std::uint64_t> errors;  // by type
    Figures& operator+=(const Figures& other);
  };

  explicit CallTallies(std::size_t places) : places_(std::make_unique<Place[]>(places)) {}

  void ended(Ending how) noexcept {
    ended_[static_cast<std::size_t>(how)].fetch_add(1, std::memory_order_relaxed);
  }
  EndedCalls ended() const noexcept;

  // --- of a call in `place`
  void waited(int place, std::chrono::nanoseconds time) noexcept { at(place).queueTime.add(time); }
  void gotGil(int place, std::chrono::nanoseconds time, std::uint64_t times) noexcept {
    at(place).gilWait.add(time, times);
  }
  void ran(int place, std::chrono::nanoseconds time, std::uint64_t times) noexcept {
    at(place).runTime.add(time, times);
  }
  void interrupted(int place) noexcept {
    at(place).interrupts.fetch_add(1, std::memory_order_relaxed);
  }
  /// It ended with a Python exception of this type. Without memory it is not counted.
  void failed(int place, const std::string& type) noexcept;

  /// Another interpreter comes into `place`, which has no calls now.
  void startOver(int place) noexcept;
  /// How often that was, in all places.
  std::uint64_t startedOver() const;
  /// Those of the first `places`, and the sum of those counted in places before they started over.
  struct All {
    std::vector<Figures> now;
    Figures earlier;
    std::uint64_t startedOver = 0;
  };
  All read(std::size_t places) const;

 private:
  struct alignas(64) Place {
    DurationTally queueTime, gilWait, runTime;
    std::atomic<std::uint64_t> interrupts{0};
    mutable base::Mutex mutex;
    std::map<std::string, std::uint64_t> errors MULTIPY_GUARDED_BY(mutex);
    Figures read() const MULTIPY_REQUIRES(mutex);
  };
  // As many types are told apart in a place; code can make any number of them.
  static constexpr std::size_t kMostTypes = 64;

  Place& at(int place) noexcept { return places_[static_cast<std::size_t>(place)]; }

  std::array<std::atomic<std::uint64_t>, 5> ended_{};
  const std::unique_ptr<Place[]> places_;
  // Before those of places. With it nothing goes from a place into what was earlier: a reader sees
  // it once.
  mutable base::Mutex mutex_;
  Figures earlier_ MULTIPY_GUARDED_BY(mutex_);
  std::uint64_t startedOver_ MULTIPY_GUARDED_BY(mutex_) = 0;
};

}  // namespace multipy::runtime
