// One thread that calls functions at their times.
//
// The thread is started for the first function and ends with the timer, which forgets those whose
// time has not come. It exists in no child of fork(): nothing is called there.
//
// Threads: all members from any thread, the functions too; but stop() and the destructor by a
// thread that is in none of them. The functions are called one after the other, without a lock or a
// GIL, throw nothing and wait for nothing: the next one is late otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace multipy::runtime {

class Timer {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Never given twice.
  using Id = std::uint64_t;

  Timer() = default;
  ~Timer() { stop(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Calls `function` at `when`, or at once if that is past. Throws EnvironmentError where no
  /// thread is to be had. After stop() nothing is done.
  Id at(Time when, std::function<void()> function);
  /// It is not called any more, unless it is being called just now. Zero: nothing.
  void cancel(Id id) noexcept;
  /// Waits for the function that is being called; none is called later.
  void stop() noexcept;

 private:
  void run() noexcept;

  base::Mutex mutex_;
  base::Condition changed_;
  // By time, and those of one time in the order in which they came.
  std::map<std::pair<Time, Id>, std::function<void()>> waiting_ MULTIPY_GUARDED_BY(mutex_);
  std::map<Id, Time> times_ MULTIPY_GUARDED_BY(mutex_);
  Id lastId_ MULTIPY_GUARDED_BY(mutex_) = 0;
  bool stopped_ MULTIPY_GUARDED_BY(mutex_) = false;
  std::thread thread_ MULTIPY_GUARDED_BY(mutex_);
};

}  // namespace multipy::runtime
