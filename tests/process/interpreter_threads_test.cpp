#include "process/interpreter_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "../runtime/forked_children.h"
#include "base/interpreter_id.h"
#include "multipy/runtime/Exception.h"
#include "process/ownership.h"

namespace multipy::process {
namespace {

class Housekeeping : public testing::Test {
 protected:
  void SetUp() override {
    slot = Ownership::instance().admit();
    startInterpreterThreads(slot);
  }
  void TearDown() override {
    stopInterpreterThreads(slot);
    Ownership::instance().release(slot);
  }
  InterpreterId slot;
};

TEST_F(Housekeeping, RunsOnOneNamedThreadOfTheSlot) {
  std::thread::id first, second;
  std::string name;
  InterpreterId current;
  runHousekeeping(slot, [&] {
    first = std::this_thread::get_id();
    char text[16] = "";
    ::pthread_getname_np(::pthread_self(), text, sizeof text);
    name = text;
    current = Ownership::entered();
    Ownership::setCurrent(InterpreterId::none());  // as a task may that entered and left
  });
  runHousekeeping(slot, [&] {
    second = std::this_thread::get_id();
    EXPECT_EQ(Ownership::entered(), slot);
  });
  EXPECT_EQ(first, second);
  EXPECT_NE(first, std::this_thread::get_id());
  EXPECT_EQ(name, "multipy-" + std::to_string(slot.number()));
  EXPECT_EQ(current, slot);
}

TEST_F(Housekeeping, ExceptionsComeBack) {
  EXPECT_THROW(runHousekeeping(slot, [] { throw runtime::LoadError("as expected"); }),
               runtime::LoadError);
  int ran = 0;
  runHousekeeping(slot, [&] { ++ran; });
  EXPECT_EQ(ran, 1) << "the thread goes on";
}

TEST_F(Housekeeping, TasksRunInOrder) {
  std::string order;
  for (char c = 'a'; c <= 'z'; ++c)
    ASSERT_TRUE(postHousekeeping(slot, [&order, c] { order += c; }));
  runHousekeeping(slot, [] {});
  EXPECT_EQ(order, "abcdefghijklmnopqrstuvwxyz");
}

TEST_F(Housekeeping, RunFromItsOwnThreadDoesNotWaitForItself) {
  bool inner = false;
  runHousekeeping(slot, [&] { runHousekeeping(slot, [&] { inner = true; }); });
  EXPECT_TRUE(inner);
}

TEST_F(Housekeeping, ATaskThatPausesGoesOnOnceThereIsAnother) {
  std::atomic<bool> paused{false};
  ASSERT_TRUE(postHousekeeping(slot, [&] {
    paused = true;
    pauseHousekeeping(slot, std::chrono::hours(1));
  }));
  while (!paused) std::this_thread::yield();
  bool ran = false;
  runHousekeeping(slot, [&] { ran = true; });
  EXPECT_TRUE(ran);
}

// A thread that waits for the owner may be the one that a destructor waits for.
TEST_F(Housekeeping, TheOwnersThreadDoesNotWaitForDrops) {
  std::atomic<bool> goOn{false};
  ASSERT_TRUE(postHousekeeping(slot, [&] {
    while (!goOn) std::this_thread::yield();
  }));
  std::thread::id owner, other;
  runOwner(slot, [&] {
    owner = std::this_thread::get_id();
    EXPECT_EQ(Ownership::entered(), slot);
    runOwner(slot, [&] { goOn = true; });
  });
  runHousekeeping(slot, [&] { other = std::this_thread::get_id(); });
  EXPECT_NE(owner, other);
  EXPECT_NE(owner, std::this_thread::get_id());
  EXPECT_THROW(runOwner(slot, [] { throw runtime::LoadError("as expected"); }), runtime::LoadError);
}

TEST_F(Housekeeping, StopFinishesWhatWasGivenAndRefusesTheRest) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) postHousekeeping(slot, [&] { ++ran; });
  stopInterpreterThreads(slot);
  EXPECT_EQ(ran, 1000);
  EXPECT_FALSE(postHousekeeping(slot, [] {}));
  EXPECT_THROW(runHousekeeping(slot, [] {}), runtime::HandleError);
  EXPECT_THROW(runOwner(slot, [] {}), runtime::HandleError);
  stopInterpreterThreads(slot);  // again: nothing happens
  startInterpreterThreads(slot);
  EXPECT_TRUE(postHousekeeping(slot, [] {}));
}

TEST_F(Housekeeping, OneThreadPerSlot) {
  EXPECT_THROW(startInterpreterThreads(slot), runtime::InternalError);
}

TEST_F(Housekeeping, WrongSlots) {
  EXPECT_THROW(startInterpreterThreads(InterpreterId::none()), runtime::InvalidArgument);
  EXPECT_THROW(startInterpreterThreads(InterpreterId::resident()), runtime::InvalidArgument);
  EXPECT_FALSE(postHousekeeping(InterpreterId::none(), [] {}));
  EXPECT_FALSE(postHousekeeping(InterpreterId::resident(), [] {}));
}

TEST_F(Housekeeping, DropsArePermittedUntilClosed) {
  const Incarnation owner = incarnation(slot);
  EXPECT_TRUE(DropPermit(owner));
  EXPECT_FALSE(DropPermit({InterpreterId::none(), 0}));
  EXPECT_FALSE(DropPermit({slot, owner.generation + 1})) << "a successor is another one";
  closeDrops(slot);
  EXPECT_FALSE(DropPermit(owner));
}

TEST_F(Housekeeping, CloseWaitsForDropsUnderWay) {
  std::atomic<bool> permitted{false}, leave{false}, closed{false};
  std::thread dropping([&] {
    const DropPermit permit(incarnation(slot));
    permitted = static_cast<bool>(permit);
    while (!leave) std::this_thread::yield();
  });
  while (!permitted) std::this_thread::yield();
  std::thread closing([&] {
    closeDrops(slot);
    closed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(closed);
  leave = true;
  closing.join();
  dropping.join();
  EXPECT_TRUE(closed);
}

TEST_F(Housekeeping, CloseRunsWhatIsQueuedFirst) {
  std::atomic<bool> permitted{false};
  postHousekeeping(slot, [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); });
  postHousekeeping(slot, [&] { permitted = static_cast<bool>(DropPermit(incarnation(slot))); });
  closeDrops(slot);
  EXPECT_TRUE(permitted);
}

// Which has none of the threads; a thread that was in a lock of theirs is in it for ever.
TEST_F(Housekeeping, AForkedChildIsRefusedAndDoesNotWait) {
  std::atomic<bool> stop{false};
  std::thread posting([&] {
    while (!stop) runHousekeeping(slot, [] {});
  });
  std::thread closing([&] {
    while (!stop) closeDrops(slot);
  });
  testing_support::expectChildrenToEnd(50, [&] {
    int wrong = postHousekeeping(slot, [] {}) || postToOwner(slot, [] {});
    try {
      runHousekeeping(slot, [] {});
      ++wrong;
    } catch (const runtime::HandleError&) {
    }
    wrong += static_cast<bool>(DropPermit(incarnation(slot)));
    return wrong;
  });
  stop = true;
  posting.join();
  closing.join();
}

TEST_F(Housekeeping, AForkedChildReleasesWhatIsItsInterpreters) {
  Ownership::setCurrent(slot);
  const InterpreterId other = Ownership::instance().admit();
  startInterpreterThreads(other);
  testing_support::expectChildrenToEnd(1, [&] {
    return !DropPermit(incarnation(slot)) + static_cast<bool>(DropPermit(incarnation(other)));
  });
  stopInterpreterThreads(other);
  Ownership::instance().release(other);
  Ownership::setCurrent(InterpreterId::none());
}

TEST_F(Housekeeping, ManyThreadsPost) {
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        if (i % 100 == 0)
          runHousekeeping(slot, [&] { ++ran; });
        else
          postHousekeeping(slot, [&] { ++ran; });
      }
    });
  for (auto& thread : threads) thread.join();
  stopInterpreterThreads(slot);
  EXPECT_EQ(ran, 4000);
}

}  // namespace
}  // namespace multipy::process
