// What the calls inside of each interpreter are expected to take, and which calls may share one.
//
// Two calls in one interpreter take its GIL from each other. Where both take about as long that is
// all. Where one is much costlier, the cheap one may wait for the expensive one each time that it
// wants the GIL back: so it goes in with priority (interpreter/cpython/gil_priority.h), one at a
// time; or without, but only once it has waited for so long that this is no worse.
//
// Threads: all members from any thread; none waits. What is asked is a heuristic: what is inside
// may change meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/scheduling/call_cost.h"

namespace multipy::runtime {

/// How a call is in an interpreter with others.
enum class Share {
  Alone,     // it found the interpreter free
  Beside,    // it joined others
  Priority,  // it joined others that take much longer
};

class ExpectedCosts {
 public:
  using Cost = CallCost::Duration;  // zero: not known

  explicit ExpectedCosts(std::size_t interpreters) : of_(std::make_unique<Of[]>(interpreters)) {}

  /// A call goes into interpreter `where`, or leaves it, as claimPriority() and the caller have
  /// found. (Of those that found it free there is one at a time.)
  void begin(int where, Share share, Cost cost) noexcept {
    Of& of = of_[where];
    if (share == Share::Alone) [[likely]]
      of.alone.store(cost.count(), std::memory_order_relaxed);
    else if (share == Share::Beside)
      of.beside.fetch_add(cost.count(), std::memory_order_relaxed);
  }
  void end(int where, Share share, Cost cost) noexcept {
    Of& of = of_[where];
    if (share == Share::Alone) [[likely]]
      of.alone.store(0, std::memory_order_relaxed);
    else if (share == Share::Beside)
      of.beside.fetch_sub(cost.count(), std::memory_order_relaxed);
    else
      of.priority.store(false);
  }

  /// What those inside may take, but for one with priority.
  Cost inside(int where) const noexcept {
    const Of& of = of_[where];
    return Cost(of.alone.load(std::memory_order_relaxed) +
                of.beside.load(std::memory_order_relaxed));
  }

  /// True, and the call is the one with priority until end(), if those inside take much longer
  /// than `cost` and none has it.
  bool claimPriority(int where, Cost cost) noexcept;

  /// Whether a call may go in beside those inside, without priority, that has waited for so long.
  bool mayJoin(int where, Cost cost, std::chrono::nanoseconds waited) const noexcept;

  /// After how long in which nothing has become free a call goes in wherever it may be; the first
  /// `interpreters` count.
  std::chrono::microseconds patience(std::size_t interpreters) const noexcept;

 private:
  // A cache line each: they are written all the time.
  struct alignas(64) Of {
    std::atomic<std::uint32_t> alone{0};   // microseconds
    std::atomic<std::uint32_t> beside{0};  // of all of them
    std::atomic<bool> priority{false};     // one is inside
  };
  const std::unique_ptr<Of[]> of_;
};

}  // namespace multipy::runtime
