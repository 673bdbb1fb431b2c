// The small parts that the runtime's guarantees rest on.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/closable_stack.h"
#include "base/parallel_for.h"
#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "process/fork_guard.h"
#include "runtime/interpreter/module_sources.h"
#include "runtime/interpreter/operation_gate.h"

namespace multipy::runtime {
namespace {

using testing_support::expectError;

TEST(OperationGate, RefusesOnceClosed) {
  OperationGate gate;
  EXPECT_TRUE(gate.tryPass());
  EXPECT_FALSE(gate.empty());
  EXPECT_TRUE(gate.leave());
  EXPECT_TRUE(gate.close());
  EXPECT_FALSE(gate.close());
  EXPECT_FALSE(gate.tryPass());
  EXPECT_TRUE(gate.empty());
  gate.waitUntilEmpty();
}

TEST(OperationGate, LeaveTellsTheLastOne) {
  OperationGate gate;
  gate.tryPass();
  gate.tryPass();
  EXPECT_FALSE(gate.leave());
  EXPECT_TRUE(gate.leave());
}

TEST(OperationGate, WaitsForAllInside) {
  for (int round = 0; round < 200; ++round) {
    OperationGate gate;
    std::atomic<int> inside{0};
    std::atomic<bool> started{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        while (gate.tryPass()) {
          ++inside;
          started = true;
          --inside;
          gate.leave();
        }
      });
    while (!started) std::this_thread::yield();
    gate.close();
    gate.waitUntilEmpty();
    EXPECT_EQ(inside, 0);
    for (auto& thread : threads) thread.join();
  }
}

struct Node {
  int value = 0;
  Node* next = nullptr;
};

TEST(ClosableStack, GivesEachNodeToOneTaker) {
  constexpr int kThreads = 4, kEach = 20000;
  base::ClosableStack<Node> stack;
  std::vector<std::atomic<int>> seen(kThreads * kEach);
  std::atomic<int> refused{0};
  const auto count = [&](Node* node) {
    while (node) {
      Node* next = node->next;
      ++seen[node->value];
      delete node;
      node = next;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        auto* node = new Node{t * kEach + i};
        if (stack.push(node) == base::ClosableStack<Node>::Pushed::Refused) {
          ++refused;
          delete node;
        }
        if (i % 64 == 0) count(stack.takeAll());
      }
    });
  for (auto& thread : threads) thread.join();
  count(stack.close());
  EXPECT_EQ(refused, 0);
  for (auto& times : seen) ASSERT_EQ(times, 1);
}

TEST(ClosableStack, RefusesOnceClosed) {
  using Pushed = base::ClosableStack<Node>::Pushed;
  base::ClosableStack<Node> stack;
  Node a, b, c;
  EXPECT_EQ(stack.push(&a), Pushed::First);
  EXPECT_EQ(stack.push(&b), Pushed::Further);
  EXPECT_FALSE(stack.empty());
  EXPECT_EQ(stack.close(), &b);
  EXPECT_EQ(b.next, &a);
  EXPECT_TRUE(stack.closed());
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(stack.push(&c), Pushed::Refused);
  EXPECT_EQ(stack.takeAll(), nullptr);
  EXPECT_EQ(stack.close(), nullptr);
}

TEST(InParallel, DoesEverythingOnce) {
  std::vector<std::atomic<int>> done(100);
  base::parallelFor(done.size(), [&](std::size_t i) { ++done[i]; });
  for (auto& times : done) EXPECT_EQ(times, 1);
  base::parallelFor(0, [](std::size_t) { FAIL(); });
}

TEST(InParallel, RunsAtLeastTwoAtOnce) {
  std::atomic<int> arrived{0};
  base::parallelFor(2, [&](std::size_t) {
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(InParallel, RethrowsAfterAllHaveEnded) {
  std::atomic<int> running{0};
  EXPECT_THROW(base::parallelFor(50,
                                 [&](std::size_t i) {
                                   ++running;
                                   if (i == 7) {
                                     --running;
                                     throw std::out_of_range("seven");
                                   }
                                   --running;
                                 }),
               std::out_of_range);
  EXPECT_EQ(running, 0);
}

TEST(ModuleSources, LaterSourceReplacesEarlier) {
  ModuleSources sources;
  EXPECT_EQ(sources.find("tools"), std::nullopt);
  sources.add("tools", "a = 1");
  sources.add("tools", "a = 2");
  sources.add("tools.strings", "b = 1");
  EXPECT_EQ(sources.find("tools"), "a = 2");
  EXPECT_EQ(sources.count(), 2u);
}

TEST(ModuleSources, RefusesNamesThatCannotBeImported) {
  ModuleSources sources;
  for (const char* name : {"", ".", "a.", ".a", "a..b", "1a", "a b", "a-b", "a/b"})
    expectError<InvalidArgument>([&] { sources.add(name, ""); }, {name, "expected"});
  EXPECT_EQ(sources.count(), 0u);
  sources.add("größe", "");
  sources.add("_a1.b2", "");
}

TEST(ForkGuard, KnowsTheChild) {
  ASSERT_FALSE(process::inForkedChild());
  process::refuseInForkedChild("work");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int code = process::inForkedChild() ? 0 : 1;
    try {
      process::refuseInForkedChild("work");
      code |= 2;
    } catch (const HandleError&) {
    }
    ::_exit(code);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(process::inForkedChild());
}

}  // namespace
}  // namespace multipy::runtime
