// Counts what becomes of a manager's calls.
//
// Threads: all members from any thread; none waits but for the table of errors, for a moment.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "multipy/runtime/pool_stats.h"

namespace multipy::runtime {

/// A DurationHistogram that many threads write.
class DurationTally {
 public:
  /// `times` calls took so long.
  void add(std::chrono::nanoseconds time, std::uint64_t times = 1) noexcept;
  DurationHistogram read() const noexcept;

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

  explicit CallTallies(std::size_t places) : errors_(std::make_unique<Errors[]>(places)) {}

  void ended(Ending how) noexcept {
    ended_[static_cast<std::size_t>(how)].fetch_add(1, std::memory_order_relaxed);
  }
  EndedCalls ended() const noexcept;

  /// A call in `place` ended with a Python exception of this type. Without memory it is not
  /// counted.
  void failed(int place, const std::string& type) noexcept;
  std::map<std::string, std::uint64_t> errors(int place) const;
  /// Another interpreter comes into `place`: its errors are counted anew.
  void startOver(int place) noexcept;
  /// Those counted in places before that.
  std::map<std::string, std::uint64_t> earlierErrors() const;

  DurationTally queueTime, runTime;

 private:
  struct Errors {
    mutable base::Mutex mutex;
    std::map<std::string, std::uint64_t> byType MULTIPY_GUARDED_BY(mutex);
  };
  // As many types are told apart in a place; code can make any number of them.
  static constexpr std::size_t kMostTypes = 64;

  std::array<std::atomic<std::uint64_t>, 5> ended_{};
  const std::unique_ptr<Errors[]> errors_;
  Errors earlier_;
};

}  // namespace multipy::runtime
