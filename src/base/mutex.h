// Those of the standard library, in a form that clang's thread safety analysis can follow.
//
// Threads: as the originals.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "base/thread_annotations.h"

namespace multipy::base {

template <class Standard>
class MULTIPY_CAPABILITY("mutex") BasicMutex {
 public:
  constexpr BasicMutex() = default;
  BasicMutex(const BasicMutex&) = delete;
  BasicMutex& operator=(const BasicMutex&) = delete;

  void lock() MULTIPY_ACQUIRE() { mutex_.lock(); }
  bool try_lock() MULTIPY_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() MULTIPY_RELEASE() { mutex_.unlock(); }

 protected:
  friend class Condition;
  Standard mutex_;
};

using Mutex = BasicMutex<std::mutex>;
using RecursiveMutex = BasicMutex<std::recursive_mutex>;

class MULTIPY_CAPABILITY("mutex") SharedMutex : public BasicMutex<std::shared_mutex> {
 public:
  void lock_shared() MULTIPY_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void unlock_shared() MULTIPY_RELEASE_SHARED() { mutex_.unlock_shared(); }
};

/// Has a mutex as long as it lives, but for what is between unlock() and lock().
template <class M>
class MULTIPY_SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(M& mutex) MULTIPY_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  /// One that this thread has already (try_lock()).
  Lock(M& mutex, std::adopt_lock_t) MULTIPY_REQUIRES(mutex) : mutex_(mutex) {}
  ~Lock() MULTIPY_RELEASE() {
    if (locked_) mutex_.unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void unlock() MULTIPY_RELEASE() {
    locked_ = false;
    mutex_.unlock();
  }
  void lock() MULTIPY_ACQUIRE() {
    mutex_.lock();
    locked_ = true;
  }

 private:
  M& mutex_;
  bool locked_ = true;
};

/// Shares one with other readers as long as it lives.
template <class M>
class MULTIPY_SCOPED_CAPABILITY SharedLock {
 public:
  explicit SharedLock(M& mutex) MULTIPY_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~SharedLock() MULTIPY_RELEASE() { mutex_.unlock_shared(); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  M& mutex_;
};

/// What a thread waits for with a Mutex. It may also wake without a reason.
class Condition {
 public:
  void wait(Mutex& mutex) MULTIPY_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  /// False: the time has come.
  template <class Clock, class Duration>
  bool waitUntil(Mutex& mutex, const std::chrono::time_point<Clock, Duration>& time)
      MULTIPY_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const bool changed = changed_.wait_until(lock, time) == std::cv_status::no_timeout;
    lock.release();
    return changed;
  }
  void notifyOne() noexcept { changed_.notify_one(); }
  void notifyAll() noexcept { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace multipy::base
