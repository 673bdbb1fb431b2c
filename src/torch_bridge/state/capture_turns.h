// When threads capture CUDA graphs, and when they wait for the device: not at the same time
// (cuda_captures.h). Captures go together, and so do waits.
//
// Threads: all members from any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "base/mutex.h"

namespace multipy::bridge {

class CaptureTurns {
 public:
  /// Nothing is waited for longer than that.
  explicit CaptureTurns(std::chrono::milliseconds patience) : patience_(patience) {}

  /// Before this thread captures a graph: when no thread waits for the device.
  void beginCapture(const void* graph) {
    const base::Lock guard(mutex_);
    const auto end = Clock::now() + patience_;
    while (waits_ != 0 && changed_.waitUntil(mutex_, end)) {
    }
    captures_[graph] = std::this_thread::get_id();
  }
  void endCapture(const void* graph) {
    const base::Lock guard(mutex_);
    captures_.erase(graph);
    changed_.notifyAll();
  }

  /// Before this thread waits for the device: when no other thread captures. Those that have not
  /// ended in time are not waited for again.
  void beginWait() {
    const base::Lock guard(mutex_);
    const auto end = Clock::now() + patience_;
    bool inTime = true;
    while (inTime && isAnotherCapturing()) inTime = changed_.waitUntil(mutex_, end);
    if (!inTime) std::erase_if(captures_, isOfAnotherThread);
    ++waits_;
  }
  void endWait() {
    const base::Lock guard(mutex_);
    --waits_;
    changed_.notifyAll();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using ByGraph = std::map<const void*, std::thread::id>;

  // A thread that waits for the device while it captures itself gets CUDA's error for it.
  static bool isOfAnotherThread(const ByGraph::value_type& capture) {
    return capture.second != std::this_thread::get_id();
  }
  bool isAnotherCapturing() const MULTIPY_REQUIRES(mutex_) {
    return std::ranges::any_of(captures_, isOfAnotherThread);
  }

  const std::chrono::milliseconds patience_;
  base::Mutex mutex_;
  base::Condition changed_;
  ByGraph captures_ MULTIPY_GUARDED_BY(mutex_);
  int waits_ MULTIPY_GUARDED_BY(mutex_) = 0;
};

}  // namespace multipy::bridge
