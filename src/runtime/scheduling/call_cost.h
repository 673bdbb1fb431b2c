// How long the calls of one object take, roughly: what a CallQueue needs to tell a
// cheap call from an expensive one. A moving average, of which only changes that matter are
// written, so that threads that call the same object do not share a written line.
//
// Threads: all members from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace multipy::runtime {

class CallCost {
 public:
  using Duration = std::chrono::duration<std::uint32_t, std::micro>;

  /// Calls that take less than this are all alike: cheap.
  static constexpr Duration kLeast{32};

  /// Zero: not known yet.
  Duration expected() const noexcept { return Duration(expected_.load(std::memory_order_relaxed)); }

  /// Of how many calls this one is to be timed for; 0: not timed. As long as nothing is known, and
  /// of long ones, each; of short ones, of which reading the clock would be a good part, one in
  /// many.
  unsigned timesNext() const noexcept {
    constexpr std::uint32_t kLong = 1000;  // microseconds
    constexpr unsigned kMany = 128;
    static constinit thread_local unsigned calls = 0;
    const std::uint32_t expected = expected_.load(std::memory_order_relaxed);
    if (expected == 0 || expected >= kLong) return 1;
    return ++calls % kMany == 0 ? kMany : 0;
  }

  void took(std::chrono::nanoseconds time) noexcept {
    constexpr std::int64_t kMost = 3'600'000'000;  // an hour: fits into 32 bits
    const std::int64_t now = std::clamp<std::int64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(time).count(), kLeast.count(), kMost);
    const std::int64_t before = expected_.load(std::memory_order_relaxed);
    if (before == 0)
      return expected_.store(static_cast<std::uint32_t>(now), std::memory_order_relaxed);
    // A thread that the system has put aside in the middle of a call is no measure.
    const std::int64_t more = std::min(now, 2 * before) - before;
    if (std::abs(more) > before / 4)
      expected_.store(static_cast<std::uint32_t>(before + more / 4), std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint32_t> expected_{0};  // microseconds
};

}  // namespace multipy::runtime
