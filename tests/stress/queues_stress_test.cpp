// Calls that wait for a busy interpreter while other things happen: they go on with
// another manager, the manager goes away, its limit changes, cheap calls pass expensive ones.
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/replicated_obj.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "together.h"

namespace multipy::stress {
namespace {

using runtime::InterpreterManager;
using runtime::ReplicatedObj;

constexpr const char* kModule = R"(
import time

def add_up(n):
    total = 0
    for i in range(n):
        total += i
    return total

def in_many_parts(n):  # gives the GIL up again and again, as torch's operators do
    total = 0
    for i in range(n):
        total += i
        time.sleep(0)
    return total
)";

constexpr int64_t sumBelow(int64_t n) { return n * (n - 1) / 2; }

std::unique_ptr<InterpreterManager> makeManager(int interpreters) {
  auto manager = std::make_unique<InterpreterManager>(interpreters);
  manager->registerModuleSource("queues_stress", kModule);
  return manager;
}

ReplicatedObj function(InterpreterManager& manager, const char* name) {
  auto session = manager.acquireOne();
  return session.createMovable(session.global("queues_stress", name));
}

TEST(QueuesStress, ThreadsGoFromOneManagerToAnotherAndBack) {
  constexpr int kThreads = 8, kCalls = 1500;
  const auto one = makeManager(1), other = makeManager(2);
  const ReplicatedObj inOne = function(*one, "add_up"), inOther = function(*other, "add_up");
  std::atomic<int> wrong = 0;
  together(kThreads, [&](int thread) {
    for (int call = 0; call < kCalls; ++call) {
      // Every thread in its own rhythm, and some with one manager alone.
      const bool first = thread < 2 ? thread == 0 : call / thread % 2 == 0;
      if ((first ? inOne : inOther)({call % 50}).toInt() != sumBelow(call % 50)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

// From inside an interpreter of one manager calls go to the other one's: they do not wait
// for those in line, which may be waiting for an interpreter that they are inside of.
TEST(QueuesStress, CallsFromInsideOneManagerToTheOtherAndTheOtherWayRound) {
  constexpr int kThreads = 8, kCalls = 300;
  const auto one = makeManager(1), other = makeManager(1);
  const ReplicatedObj inOne = function(*one, "add_up"), inOther = function(*other, "add_up");
  std::atomic<int> wrong = 0;
  together(kThreads, [&](int thread) {
    for (int call = 0; call < kCalls; ++call) {
      const bool first = (thread + call) % 2 == 0;
      if (thread % 4 == 0) {  // these wait in line
        if ((first ? inOne : inOther)({30}).toInt() != sumBelow(30)) ++wrong;
        continue;
      }
      auto session = (first ? one : other)->acquireOne();
      const auto inside = session.enter();
      if ((first ? inOther : inOne)({30}).toInt() != sumBelow(30)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(QueuesStress, ManagersGoWhileCallsAndSessionsWait) {
  constexpr int kRounds = 8, kThreads = 8;
  const auto lasting = makeManager(1);
  const ReplicatedObj there = function(*lasting, "add_up");
  std::atomic<int> wrong = 0, refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    auto manager = makeManager(1 + round % 2);
    const ReplicatedObj quick = function(*manager, "add_up");
    const ReplicatedObj slow = function(*manager, "in_many_parts");
    std::atomic<int> answered = 0;
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        const int64_t n = thread % 2 ? 3000 : 20;
        try {
          for (;;) {
            if ((thread % 3 ? quick : slow)({n}).toInt() != sumBelow(n)) ++wrong;
            if (there({n}).toInt() != sumBelow(n)) ++wrong;
            ++answered;
            if (thread == 1) quick.acquireSession().self({n});
          }
        } catch (const runtime::HandleError&) {
          ++refused;
        }
      });
    while (answered < 3 * kThreads) std::this_thread::yield();
    manager.reset();
    threads.clear();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(refused, kRounds * kThreads);
  EXPECT_EQ(there({10}).toInt(), sumBelow(10));
}

TEST(QueuesStress, TheLimitChangesWhileCallsWait) {
  constexpr int kInterpreters = 3, kThreads = 6, kCalls = 800;
  const auto manager = makeManager(kInterpreters);
  const ReplicatedObj quick = function(*manager, "add_up");
  std::atomic<int> wrong = 0, working = kThreads;
  together(kThreads + 1, [&](int thread) {
    if (thread == kThreads) {
      for (std::size_t change = 0; working > 0; ++change) {
        manager->debugLimitInterpreters(1 + change % kInterpreters);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      return;
    }
    for (int call = 0; call < kCalls; ++call)
      if (quick({500}).toInt() != sumBelow(500)) ++wrong;
    --working;
  });
  EXPECT_EQ(wrong, 0);
}

// Cheap calls have priority beside expensive ones, which stay outside meanwhile each time they
// come back from giving the GIL up. All of them end, with sessions in between.
TEST(QueuesStress, CheapCallsPassExpensiveOnes) {
  constexpr int kInterpreters = 2, kExpensiveThreads = 3, kExpensive = 6;
  constexpr int64_t kParts = 4000;
  const auto manager = makeManager(kInterpreters);
  const ReplicatedObj expensive = function(*manager, "in_many_parts");
  const ReplicatedObj cheap = function(*manager, "add_up");
  expensive({kParts});
  for (int call = 0; call < 3; ++call) cheap({10});
  std::atomic<int> wrong = 0, working = kExpensiveThreads;
  together(kExpensiveThreads + 4, [&](int thread) {
    if (thread < kExpensiveThreads) {
      for (int call = 0; call < kExpensive; ++call)
        if (expensive({kParts}).toInt() != sumBelow(kParts)) ++wrong;
      --working;
      return;
    }
    while (working > 0) {
      if (cheap({10}).toInt() != sumBelow(10)) ++wrong;
      if (thread == kExpensiveThreads) cheap.acquireSession().self({10});
    }
  });
  EXPECT_EQ(wrong, 0);
  for (const auto& interpreter : manager->allInstances())
    EXPECT_EQ(
        interpreter.acquireSession().global("sys", "getswitchinterval")({}).toIValue().toDouble(),
        0.005);
}

}  // namespace
}  // namespace multipy::stress
