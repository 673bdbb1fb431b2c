// The calls that wait for an interpreter, in the order in which they came.
//
// The first in line looks around by itself now and then; the others sleep until they are the first
// or have been given an interpreter.
//
// Threads: with the mutex of the CallQueue held, but for Waiter::given, which its own thread may
// read without.
#pragma once

#include <atomic>

#include "base/mutex.h"

namespace multipy::runtime {

/// One call. Lives on its thread's stack for as long as it waits.
struct Waiter {
  base::Condition wakeUp;
  std::atomic<int> given = -1;  // the interpreter that it has been given
  bool called = false;          // woken since an interpreter becomes free
  Waiter* next = nullptr;       // behind it in line
};

class WaitingLine {
 public:
  Waiter* first() const noexcept { return first_; }

  void add(Waiter& waiter) noexcept {
    (last_ ? last_->next : first_) = &waiter;
    last_ = &waiter;
  }
  void removeFirst() noexcept {
    first_ = first_->next;
    if (!first_) last_ = nullptr;
    firstAwake_ = false;
  }
  /// The first one gets interpreter `where`, and is in the line no more.
  void giveFirst(int where) noexcept {
    Waiter& waiter = *first_;
    waiter.given = where;
    removeFirst();
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
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  bool firstAwake_ = false;
};

}  // namespace multipy::runtime
