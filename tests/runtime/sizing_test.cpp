// Pools that get larger when calls wait, smaller when interpreters have nothing to do, and have
// none at all when there is nothing to do.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "until.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

class SizedPool {
 public:
  SizedPool(std::size_t n, const SizingOptions& sizing, InterpreterManagerOptions options = {})
      : manager(n, with(sizing, std::move(options))) {
    manager.registerModuleSource("sized", R"(
import time
def add(a, b): return a + b
def keep_gil(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end: pass
)");
  }
  static InterpreterManagerOptions with(const SizingOptions& sizing,
                                        InterpreterManagerOptions options) {
    options.pool.sizing = sizing;
    return options;
  }
  ReplicatedObj function(const char* name) {
    auto session = manager.acquireOne();
    return manager.createMovable(session.global("sized", name), &session);
  }
  std::size_t size() { return manager.allInstances().size(); }

  InterpreterManager manager;
};

/// Calls that are made until it goes.
class Load {
 public:
  Load(const ReplicatedObj& function, int threads, double seconds) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([=, this] {
        while (!stop_) function({seconds});
      });
  }
  ~Load() { stop_ = true; }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::jthread> threads_;
};

TEST(Sizing, GrowsWhileCallsWaitAndShrinksWhenNothingIsToDo) {
  SizedPool pool(1, {.growAfter = 20ms, .most = 3, .shrinkAfter = 300ms, .least = 1});
  const ReplicatedObj keepGil = pool.function("keep_gil");
  {
    const Load load(keepGil, 6, 0.05);
    until([&] { return pool.size() == 3; });
  }
  EXPECT_EQ(pool.manager.stats().grown, 2u);
  until([&] { return pool.size() == 1; });
  EXPECT_EQ(pool.manager.stats().shrunk, 2u);
  EXPECT_EQ(pool.function("add")({1, 2}).toInt(), 3);
  until([&] { return pool.manager.stats().interpreters.size() == 1; });
}

TEST(Sizing, GrowsForCallsThatNoThreadWaitsFor) {
  SizedPool pool(1, {.growAfter = 20ms, .most = 2});
  const ReplicatedObj keepGil = pool.function("keep_gil");
  std::vector<std::future<at::IValue>> results;
  while (pool.size() < 2) {
    results.push_back(keepGil.callAsync({0.02}));
    std::this_thread::sleep_for(1ms);
  }
  for (auto& each : results) each.get();
}

TEST(Sizing, EndsAnIdlePoolAndStartsItForTheNextCall) {
  SizedPool pool(2, {.growAfter = 1ms, .most = 2, .shrinkAfter = 200ms, .least = 0});
  const ReplicatedObj add = pool.function("add");
  EXPECT_EQ(add({1, 2}).toInt(), 3);
  for (int round = 0; round < 2; ++round) {
    until([&] { return pool.manager.stats().interpreters.empty(); });
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_TRUE(pool.manager.health().ready) << "it starts one when there is something to do";
    EXPECT_EQ(add({round, 2}).toInt(), round + 2);
  }
  until([&] { return pool.size() == 0; });
  EXPECT_EQ(pool.manager.acquireOne().global("sized", "add")({3, 4}).toIValue().toInt(), 7);
  until([&] { return pool.size() == 0; });
  EXPECT_EQ(add.callAsync({5, 6}).get().toInt(), 11);
}

TEST(Sizing, KeepsWhatSessionsUse) {
  SizedPool pool(1, {.growAfter = 1ms, .most = 1, .shrinkAfter = 100ms, .least = 0});
  auto session = pool.manager.acquireOne();
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(session.global("sized", "add")({3, 4}).toIValue().toInt(), 7);
}

TEST(Sizing, SaysWhyNoneCanBeStarted) {
  std::atomic<bool> refuse{false};
  InterpreterManagerOptions options;
  options.warmUp = [&](const Interpreter&) {
    if (refuse) throw std::runtime_error("no licence");
  };
  SizedPool pool(1, {.growAfter = 1ms, .most = 1, .shrinkAfter = 100ms, .least = 0}, options);
  const ReplicatedObj add = pool.function("add");
  refuse = true;
  until([&] { return pool.size() == 0; });
  CallOptions within;
  within.deadline = CallOptions::in(1s);
  EXPECT_THROW(static_cast<void>(add.call({1, 2}, within)), DeadlineExceededError);
  until([&] { return !pool.manager.health().ready; });
  EXPECT_NE(pool.manager.health().reasons.at(0).find("no licence"), std::string::npos);
  refuse = false;
  EXPECT_EQ(add({1, 2}).toInt(), 3) << "it is tried again";
  EXPECT_TRUE(pool.manager.health().ready);
}

TEST(Sizing, TellsThoseWhoWaitForNoneThatThePoolHasGone) {
  InterpreterManagerOptions options;
  std::atomic<bool> refuse{false};
  options.warmUp = [&](const Interpreter&) {
    if (refuse) throw std::runtime_error("no licence");
  };
  auto pool = std::make_unique<SizedPool>(
      1, SizingOptions{.growAfter = 1ms, .most = 1, .shrinkAfter = 100ms, .least = 0}, options);
  const ReplicatedObj add = pool->function("add");
  refuse = true;
  until([&] { return pool->size() == 0; });
  std::jthread caller([&] { EXPECT_THROW(add({1, 2}), HandleError); });
  std::future<at::IValue> later = add.callAsync({1, 2});
  until([&] { return pool->manager.stats().waiting[1] == 2; });
  pool.reset();
  caller.join();
  EXPECT_THROW(later.get(), HandleError);
}

TEST(Sizing, IsRefusedWhereItDoesNotFitTheNumberAtTheStart) {
  EXPECT_THROW(SizedPool(3, {.growAfter = 1s, .most = 2}), InvalidArgument);
}

TEST(Sizing, LosesNoCallWhileItGrowsAndShrinks) {
  SizedPool pool(1, {.growAfter = 5ms, .most = 4, .shrinkAfter = 50ms, .least = 1});
  const ReplicatedObj add = pool.function("add"), keepGil = pool.function("keep_gil");
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> calls{0};
  {
    std::jthread caller([&] {
      for (int i = 0; !stop; ++i, ++calls) ASSERT_EQ(add({i, 1}).toInt(), i + 1);
    });
    for (int round = 0; round < 3; ++round) {
      {
        const Load load(keepGil, 5, 0.01);
        until([&] { return pool.size() > 1; });
      }
      until([&] { return pool.size() == 1; });
    }
    stop = true;
  }
  EXPECT_GT(calls, 0u);
  EXPECT_GE(pool.manager.stats().grown, 3u);
}

}  // namespace
}  // namespace multipy::runtime
