#include "base/fork_mutex.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "../runtime/forked_children.h"

namespace multipy::base {
namespace {

// As the program and an interpreter do it.
void watchForks() {
  static const int error =
      ::pthread_atfork([] { ForkLock::takeAll(); }, [] { ForkLock::giveAllBack(false); },
                       [] { ForkLock::giveAllBack(true); });
  ASSERT_EQ(error, 0);
}

// Some in another one, and one for readers.
TEST(ForkMutex, ChildrenFindThemUnlockedWhateverOtherThreadsDo) {
  watchForks();
  static std::array<ForkMutex, 3> mutexes;
  static ForkSharedMutex shared;
  static std::array<int, 3> guarded{};
  static int guardedByShared = 0;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number)
    threads.emplace_back([&, number] {
      while (!stop) {
        const std::lock_guard outer(mutexes[number]);
        ++guarded[number];
        if (number > 0) {
          const std::lock_guard inner(mutexes[0]);
          ++guarded[0];
          --guarded[0];
        }
        --guarded[number];
      }
    });
  threads.emplace_back([&] {
    while (!stop) {
      const std::unique_lock lock(shared);
      ++guardedByShared;
      --guardedByShared;
    }
  });
  threads.emplace_back([&] {
    while (!stop) const std::shared_lock lock(shared);
  });
  testing_support::expectChildrenToEnd(50, [] {
    int wrong = 0;
    for (int number = 0; number < 3; ++number) {
      const std::lock_guard lock(mutexes[number]);
      wrong += guarded[number] != 0;
    }
    const std::unique_lock lock(shared);
    return wrong + (guardedByShared != 0);
  });
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(ForkMutex, AChildForks) {
  watchForks();
  static ForkMutex mutex;
  static ForkSharedMutex shared;
  testing_support::expectChildrenToEnd(2, [] {
    testing_support::expectChildrenToEnd(2, [] {
      const std::lock_guard one(mutex);
      const std::lock_guard other(shared);
      return 0;
    });
    const std::lock_guard one(mutex);
    const std::lock_guard other(shared);
    return testing::Test::HasFailure() ? 1 : 0;
  });
}

TEST(ForkMutex, OneThatIsFirstUsedMeanwhileIsTakenToo) {
  watchForks();
#ifdef __SANITIZE_THREAD__
  constexpr std::size_t kMutexes = 50;  // it follows no more than 64 that one thread has
#else
  constexpr std::size_t kMutexes = 2000;
#endif
  static std::array<ForkMutex, kMutexes> mutexes;
  static std::array<int, kMutexes> guarded{};
  std::thread busy([] {
    for (std::size_t number = 0; number < mutexes.size(); ++number)
      for (int turn = 0; turn < 200; ++turn) {
        const std::lock_guard lock(mutexes[number]);
        ++guarded[number];
        --guarded[number];
      }
  });
  testing_support::expectChildrenToEnd(20, [] {
    int wrong = 0;
    for (std::size_t number = 0; number < mutexes.size(); ++number) {
      const std::lock_guard lock(mutexes[number]);
      wrong += guarded[number] != 0;
    }
    return wrong;
  });
  busy.join();
}

}  // namespace
}  // namespace multipy::base
