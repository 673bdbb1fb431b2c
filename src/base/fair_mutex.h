// A mutex that goes to the threads in the order in which they asked for it. For what takes long:
// each handing over wakes all that wait.
//
// Threads: any.
#pragma once

#include <cstdint>

#include "base/mutex.h"

namespace multipy::base {

class MULTIPY_CAPABILITY("mutex") FairMutex {
 public:
  FairMutex() = default;
  FairMutex(const FairMutex&) = delete;
  FairMutex& operator=(const FairMutex&) = delete;

  void lock() MULTIPY_ACQUIRE() {
    const Lock lock(mutex_);
    const std::uint64_t mine = asked_++;
    while (turn_ != mine) changed_.wait(mutex_);
  }
  void unlock() MULTIPY_RELEASE() {
    const Lock lock(mutex_);
    ++turn_;
    changed_.notifyAll();
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::uint64_t asked_ MULTIPY_GUARDED_BY(mutex_) = 0;
  std::uint64_t turn_ MULTIPY_GUARDED_BY(mutex_) = 0;
};

}  // namespace multipy::base
