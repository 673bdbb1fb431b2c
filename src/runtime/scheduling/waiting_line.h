// The calls that wait for an interpreter: the more important ones first, those of one priority in
// the order in which they came.
//
// The first in line looks around by itself now and then; the others sleep until they are the first
// or have been given an interpreter. Each may leave the line at any time.
//
// Threads: with the mutex of the CallQueue held, but for Waiter::given, which its own thread may
// read without.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>

#include "base/mutex.h"
#include "multipy/runtime/call_options.h"

namespace multipy::runtime {

/// One call. Lives on its thread's stack for as long as it waits.
struct Waiter {
  explicit Waiter(CallPriority of = CallPriority::Normal,
                  CallOptions::Clock::time_point from = {}) noexcept
      : priority(of), since(from) {}

  const CallPriority priority;
  const CallOptions::Clock::time_point since;  // that it waits
  base::Condition wakeUp;
  std::atomic<int> given = -1;  // the interpreter that it has been given
  bool called = false;          // woken since an interpreter becomes free
  bool stopped = false;         // it shall wait no longer
  Waiter* before = nullptr;     // its neighbours in line
  Waiter* behind = nullptr;
};

class WaitingLine {
 public:
  Waiter* first() const noexcept { return first_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t size(CallPriority priority) const noexcept { return sizes_[index(priority)]; }

  /// Of all in line, since when the one waits that has waited for longest. Nothing: none does.
  std::optional<CallOptions::Clock::time_point> oldest() const noexcept {
    std::optional<CallOptions::Clock::time_point> oldest;
    for (const Waiter* each = first_; each; each = each->behind)
      if (!oldest || each->since < *oldest) oldest = each->since;
    return oldest;
  }

  void add(Waiter& waiter) noexcept {
    Waiter* before = last_;
    while (before && before->priority < waiter.priority) before = before->before;
    waiter.before = before;
    waiter.behind = before ? before->behind : first_;
    (waiter.before ? waiter.before->behind : first_) = &waiter;
    (waiter.behind ? waiter.behind->before : last_) = &waiter;
    if (first_ == &waiter) firstAwake_ = false;
    count(waiter, 1);
  }
  void remove(Waiter& waiter) noexcept {
    if (first_ == &waiter) firstAwake_ = false;
    (waiter.before ? waiter.before->behind : first_) = waiter.behind;
    (waiter.behind ? waiter.behind->before : last_) = waiter.before;
    count(waiter, -1);
  }
  /// The first one gets interpreter `where`, and is in the line no more.
  void giveFirst(int where) noexcept {
    Waiter& waiter = *first_;
    waiter.given = where;
    remove(waiter);
    waiter.wakeUp.notifyOne();
  }
  /// It may not know that it is the first.
  void tellFirst() noexcept {
    if (first_) first_->wakeUp.notifyOne();
  }
  /// Wakes the first one since an interpreter becomes free, unless it looks by itself just now.
  void callFirst() noexcept {
    if (!first_ || firstAwake_) return;
    firstAwake_ = true;
    first_->called = true;
    first_->wakeUp.notifyOne();
  }
  /// Says whether the first one looks by itself before it sleeps.
  void firstIsAwake(bool awake) noexcept { firstAwake_ = awake; }

 private:
  static std::size_t index(CallPriority priority) noexcept {
    return static_cast<std::size_t>(priority);
  }
  void count(const Waiter& waiter, int more) noexcept {
    size_ += static_cast<std::size_t>(more);
    sizes_[index(waiter.priority)] += static_cast<std::size_t>(more);
  }

  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  std::size_t size_ = 0;
  std::array<std::size_t, kCallPriorities> sizes_{};
  bool firstAwake_ = false;
};

}  // namespace multipy::runtime
