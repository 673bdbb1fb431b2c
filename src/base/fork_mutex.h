// Mutexes that the child of a fork finds unlocked.
//
// Such a child has one thread. A mutex that another thread held when Python code called
// os.fork() is held for ever there, and what it guards may be half changed. So a thread that
// forks takes all of these first and gives them back after; the child makes them anew,
// since glibc tells by the thread's number whose some kinds of mutex are, and the number
// is another one there.
//
// The host has one set of them and each interpreter one; fork_handlers.h says when they
// are taken.
//
// Rules. Who holds one
//   - waits for no GIL: the thread that forks has one,
//   - and runs no Python code, which could fork.
// In which order they are taken elsewhere is of no account: a fork never waits for one
// of them while it holds another. They are never destroyed.
#pragma once

#include <atomic>
#include <mutex>
#include <new>
#include <shared_mutex>

#include "base/mutex.h"

namespace multipy::base {

class ForkLock {
 public:
  ForkLock(const ForkLock&) = delete;
  ForkLock& operator=(const ForkLock&) = delete;

  /// Just before and after the process forks.
  static void takeAll() MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
    ForkLock* wanted = nullptr;  // another thread had it
    while (!tryAllBut(wanted)) {
    }
  }
  static void giveAllBack(bool inChild) MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
    for (ForkLock* each = first_; each; each = each->next_) each->giveBack(inChild);
    giveBack(listing_, inChild);
  }

 protected:
  constexpr ForkLock() = default;
  ~ForkLock() = default;

  virtual void take() = 0;
  virtual bool tryTake() = 0;
  virtual void giveBack(bool inChild) = 0;

  template <class M>
  static void giveBack(M& mutex, bool inChild) MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
    if (inChild)
      new (&mutex) M;
    else
      mutex.unlock();
  }

  /// Before it is locked for the first time.
  void list() {
    if (listed_.load(std::memory_order_acquire)) [[likely]]
      return;
    const Lock lock(listing_);
    if (listed_.load(std::memory_order_relaxed)) return;
    next_ = first_;
    first_ = this;
    listed_.store(true, std::memory_order_release);
  }

 private:
  /// As std::lock() does it: waits for one, and for no other while it has that. False,
  /// and which one could not be had in `wanted`; nothing is taken then.
  static bool tryAllBut(ForkLock*& wanted) MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
    ForkLock* const had = wanted;
    if (had) had->take();
    // Until all are given back, so that none is added: it would not be taken.
    listing_.lock();
    wanted = nullptr;
    for (ForkLock* each = first_; each && !wanted; each = each->next_)
      if (each != had && !each->tryTake()) wanted = each;
    if (!wanted) return true;
    for (ForkLock* each = first_; each != wanted; each = each->next_)
      if (each != had) each->giveBack(false);
    listing_.unlock();
    if (had) had->giveBack(false);
    return false;
  }

  static constinit inline Mutex listing_;
  static constinit inline ForkLock* first_ MULTIPY_GUARDED_BY(listing_) = nullptr;

  ForkLock* next_ MULTIPY_GUARDED_BY(listing_) = nullptr;
  std::atomic<bool> listed_{false};
};

class MULTIPY_CAPABILITY("mutex") ForkMutex final : ForkLock {
 public:
  void lock() MULTIPY_ACQUIRE() {
    list();
    mutex_.lock();
  }
  void unlock() MULTIPY_RELEASE() { mutex_.unlock(); }

 private:
  void take() override { mutex_.lock(); }
  bool tryTake() override { return mutex_.try_lock(); }
  void giveBack(bool inChild) override { ForkLock::giveBack(mutex_, inChild); }

  std::mutex mutex_;
};

/// A fork takes it like a reader: the others only read then, and those who read when the
/// child was made are not waited for there.
class MULTIPY_CAPABILITY("mutex") ForkSharedMutex final : ForkLock {
 public:
  void lock() MULTIPY_ACQUIRE() {
    list();
    mutex_.lock();
  }
  void unlock() MULTIPY_RELEASE() { mutex_.unlock(); }
  void lock_shared() MULTIPY_ACQUIRE_SHARED() {
    list();
    mutex_.lock_shared();
  }
  void unlock_shared() MULTIPY_RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  void take() override { mutex_.lock_shared(); }
  bool tryTake() override { return mutex_.try_lock_shared(); }
  void giveBack(bool inChild) override {
    if (inChild)
      new (&mutex_) std::shared_mutex;
    else
      mutex_.unlock_shared();
  }

  std::shared_mutex mutex_;
};

}  // namespace multipy::base
