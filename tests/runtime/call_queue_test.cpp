// More calls than interpreters: who waits, who does not, and that none waits for
// ever.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/interpreter/interpreter_core.h"
#include "runtime/scheduling/call_queue.h"
#include "runtime/scheduling/interpreter_users.h"

namespace multipy::runtime {
namespace {

constexpr int kInterpreters = 2;

constexpr const char* kModule = R"(
import os
import sys
import threading

one_inside = threading.Lock()
together = 0
flag = False

def read(descriptor):
    return len(os.read(descriptor, 1))

def write(descriptor):
    return os.write(descriptor, b'x')

def compute(n):
    global together
    alone = one_inside.acquire(blocking=False)
    if not alone:
        together += 1
    total = 0
    for i in range(n):
        total += i
    if alone:
        one_inside.release()
    return total

def how_often_together():
    return together

spinning = False

def spin_until_flag():
    global spinning
    spinning = True
    while not flag:
        pass

def set_flag():
    global flag
    flag = True

def fork(really):
    if not really:
        return 0
    child = os.fork()
    if child == 0:
        os.close(os.dup(0))  # gives the GIL up and takes it again
        os._exit(sum(range(4)))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def fork_and_ask_for_interval():
    child = os.fork()
    if child == 0:
        os._exit(round(sys.getswitchinterval() * 1000))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def fork_and_ask_often(n):
    return sorted({fork_and_ask_for_interval() for _ in range(n)})

def fail():
    raise ValueError('refused')
)";

class Pipe {
 public:
  Pipe() {
    if (pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    for (int end : ends_) close(end);
  }
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_;
};

class CallQueue : public testing::Test {
 protected:
  CallQueue() { manager.registerModuleSource("queued", kModule); }

  ReplicatedObj function(const char* name) {
    auto session = manager.acquireOne();
    return manager.createMovable(session.global("queued", name), &session);
  }
  /// Runs work(0) ... work(n - 1), each on a thread of its own.
  template <typename Work>
  static void onThreads(int n, const Work& work) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < n; ++i) threads.emplace_back([&work, i] { work(i); });
  }

  InterpreterManager manager{kInterpreters};
};

TEST_F(CallQueue, ACallNeedNotWaitForThoseThatBlock) {
  const Pipe pipe;
  const ReplicatedObj read = function("read"), write = function("write");
  std::atomic<int> done = 0;
  std::vector<std::jthread> readers;
  // More than there are interpreters: each is blocked, some by two of them.
  for (int i = 0; i < 2 * kInterpreters + 1; ++i)
    readers.emplace_back([&] { done += static_cast<int>(read({pipe.reading()}).toInt()); });
  for (std::size_t i = 0; i < readers.size(); ++i) EXPECT_EQ(write({pipe.writing()}).toInt(), 1);
  const int expected = static_cast<int>(readers.size());
  readers.clear();
  EXPECT_EQ(done, expected);
}

TEST_F(CallQueue, ACallThatNeverGivesTheGilUpIsJoinedInTheEnd) {
  manager.debugLimitInterpreters(1);
  const ReplicatedObj spin = function("spin_until_flag"), set = function("set_flag");
  std::jthread spinning([&] { spin({}); });
  while (manager.allInstances()[0].acquireSession().global("queued", "spinning").toIValue() ==
         false)
    std::this_thread::yield();
  set({});  // only this lets it end
}

TEST_F(CallQueue, CallsThatComputeTakeTurns) {
  const ReplicatedObj compute = function("compute");
  constexpr int kThreads = 8, kCalls = 200, kSteps = 3000;
  std::atomic<int> right = 0;
  onThreads(kThreads, [&](int) {
    for (int i = 0; i < kCalls; ++i)
      right += compute({kSteps}).toInt() == int64_t{kSteps} * (kSteps - 1) / 2;
  });
  EXPECT_EQ(right, kThreads * kCalls);
  int64_t together = 0;
  for (const Interpreter& interpreter : manager.allInstances())
    together +=
        interpreter.acquireSession().global("queued", "how_often_together")({}).toIValue().toInt();
  // A few are let in by chance: where a thread has been put aside between two steps.
  EXPECT_LT(together, kThreads * kCalls / 5);
}

TEST_F(CallQueue, SessionsThatAreOpenAndIdleAreNotWaitedFor) {
  std::vector<InterpreterSession> open;
  for (int i = 0; i < 2 * kInterpreters; ++i) open.push_back(manager.acquireOne());
  const ReplicatedObj compute = function("compute");
  onThreads(4, [&](int) {
    for (int i = 0; i < 100; ++i) EXPECT_EQ(compute({10}).toInt(), 45);
  });
}

TEST_F(CallQueue, ACallFromInsideAnInterpreterDoesNotWait) {
  const ReplicatedObj compute = function("compute");
  // All interpreters are busy with threads each of which calls once more: the one that
  // waited here would wait for itself.
  std::atomic<int> entered = 0;
  onThreads(kInterpreters, [&](int i) {
    auto session = manager.allInstances()[i].acquireSession();
    const auto inside = session.enter();
    ++entered;
    while (entered < kInterpreters) std::this_thread::yield();
    EXPECT_EQ(compute({10}).toInt(), 45);
  });
}

TEST_F(CallQueue, ACheapCallRunsBesideAnExpensiveOne) {
  const ReplicatedObj expensive = function("compute"), cheap = function("write");
  const Pipe pipe;
  constexpr int64_t kExpensive = 5'000'000;
  expensive({kExpensive});                              // now it is known to be expensive,
  for (int i = 0; i < 3; ++i) cheap({pipe.writing()});  // and this to be cheap
  std::atomic<int> running = kInterpreters;
  std::vector<std::jthread> busy;
  for (int i = 0; i < kInterpreters; ++i)
    busy.emplace_back([&] {
      expensive({kExpensive});
      --running;
    });
  int beside = 0;
  while (running == kInterpreters) {
    cheap({pipe.writing()});
    beside += running == kInterpreters;
    char bytes[64];
    ASSERT_GT(::read(pipe.reading(), bytes, sizeof bytes), 0);
  }
  EXPECT_GT(beside, 10);
  // sys.setswitchinterval's value, which a call with priority changes for its own time.
  busy.clear();
  for (const Interpreter& interpreter : manager.allInstances())
    EXPECT_EQ(
        interpreter.acquireSession().global("sys", "getswitchinterval")({}).toIValue().toDouble(),
        0.005);
}

TEST_F(CallQueue, AChildOfACallBesideAnExpensiveOneDoesNotWait) {
  const ReplicatedObj expensive = function("compute"), fork = function("fork");
  constexpr int64_t kExpensive = 5'000'000;
  expensive({kExpensive});
  for (int i = 0; i < 20; ++i) fork({false});
  std::vector<std::jthread> busy;
  for (int i = 0; i < kInterpreters; ++i) busy.emplace_back([&] { expensive({kExpensive}); });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(fork({true}).toInt(), 6);
}

// What a call with priority has changed for its own time, and a child would keep.
TEST_F(CallQueue, AChildOfAnExpensiveCallHasTheUsualSwitchInterval) {
  const ReplicatedObj expensive = function("fork_and_ask_often"), cheap = function("write");
  const Pipe pipe;
  constexpr int64_t kForks = 50;
  expensive({kForks});
  for (int i = 0; i < 3; ++i) cheap({pipe.writing()});
  manager.debugLimitInterpreters(1);
  std::atomic<bool> done = false;
  std::jthread cheapOnes([&] {
    while (!done) {
      cheap({pipe.writing()});
      char bytes[64];
      ASSERT_GT(::read(pipe.reading(), bytes, sizeof bytes), 0);
    }
  });
  const at::IValue milliseconds = expensive({kForks});
  done = true;
  ASSERT_EQ(milliseconds.toListRef().size(), 1u) << milliseconds;
  EXPECT_EQ(milliseconds.toListRef()[0].toInt(), 5);
}

TEST_F(CallQueue, APlaceIsGivenBackWhenACallFails) {
  const ReplicatedObj fail = function("fail"), compute = function("compute");
  std::atomic<int> failed = 0;
  onThreads(6, [&](int) {
    for (int i = 0; i < 50; ++i) {
      try {
        fail({});
      } catch (const PythonException&) {
        ++failed;
      }
    }
  });
  EXPECT_EQ(failed, 300);
  EXPECT_EQ(compute({10}).toInt(), 45);
}

// It had joined another expensive one, which has ended since.
TEST(CallQueuesPlaces, ACheapCallIsLetInBesideAnExpensiveOneThatCameSecond) {
  InterpreterManager manager(1);
  const std::vector<std::shared_ptr<InterpreterCore>> cores = InterpreterCore::live();
  ASSERT_EQ(cores.size(), 1u);
  InterpreterUsers users(1);
  InterpreterPlaces places(1);
  places.cores = cores;
  multipy::runtime::CallQueue queue(users, places, {});
  CallCost expensive, cheap;
  expensive.took(std::chrono::milliseconds(5));
  cheap.took(std::chrono::microseconds(50));

  const auto first = queue.enter(expensive);
  EXPECT_EQ(first.share, Share::Alone);
  const auto second = queue.enter(expensive);
  EXPECT_EQ(second.share, Share::Beside);
  queue.leave(first);
  const auto third = queue.enter(cheap);
  EXPECT_EQ(third.share, Share::Priority);
  queue.leave(third);
  queue.leave(second);
  // None is left that could be taken for expensive.
  const auto fourth = queue.enter(expensive);
  EXPECT_EQ(fourth.share, Share::Alone);
  queue.leave(fourth);
}

TEST(CallQueueAtTheEnd, WhoWaitsWhenTheManagerGoesIsToldSo) {
  auto manager = std::make_unique<InterpreterManager>(1);
  manager->registerModuleSource("queued", kModule);
  ReplicatedObj spin;
  {
    auto session = manager->acquireOne();
    spin = manager->createMovable(session.global("queued", "compute"), &session);
  }
  std::atomic<int> refused = 0, answered = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      for (;;) {
        try {
          spin({20'000});
          ++answered;
        } catch (const HandleError& error) {
          EXPECT_NE(std::string(error.what()).find("has been destroyed"), std::string::npos);
          ++refused;
          return;
        }
      }
    });
  while (answered < 20) std::this_thread::yield();
  manager.reset();
  threads.clear();
  EXPECT_EQ(refused, 6);
}

}  // namespace
}  // namespace multipy::runtime
