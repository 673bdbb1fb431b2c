// Where a manager's observer is kept, so that a call sees with one read that there is none.
//
// Threads: all members from any thread; none waits but for the slot, for a moment.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "multipy/runtime/pool_observer.h"

namespace multipy::runtime {

class ObserverSlot {
 public:
  explicit ObserverSlot(std::shared_ptr<PoolObserver> observer)
      : any_(observer != nullptr), observer_(std::move(observer)) {}

  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }
  /// Null: none.
  std::shared_ptr<PoolObserver> get() const noexcept {
    if (!any()) return nullptr;
    const base::Lock lock(mutex_);
    return observer_;
  }
  /// Null: none.
  void set(std::shared_ptr<PoolObserver> observer) noexcept {
    const base::Lock lock(mutex_);
    observer_.swap(observer);
    any_.store(observer_ != nullptr, std::memory_order_relaxed);
  }
  void tell(const InterpreterChange& change) const noexcept {
    if (const auto observer = get()) observer->interpreterChanged(change);
  }

 private:
  std::atomic<bool> any_;
  mutable base::Mutex mutex_;
  std::shared_ptr<PoolObserver> observer_ MULTIPY_GUARDED_BY(mutex_);
};

}  // namespace multipy::runtime
