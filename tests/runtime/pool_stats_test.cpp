// What a manager counts, and what it says of its health. With the word "page" it prints a page for
// Prometheus instead (prometheus_page.py).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/pool/call_tallies.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

constexpr const char* kModule = R"(
import time

def add(a, b=0): return a + b

def fail(): raise ValueError('refused')

def sleep(seconds): time.sleep(seconds)

class Odd(Exception):
    pass

def fail_oddly(): raise type('Odd"\\\n', (Exception,), {})()
)";

class Counts : public testing::Test {
 protected:
  Counts() { manager.registerModuleSource("counted", kModule); }
  ReplicatedObj function(const char* name) {
    auto session = manager.acquireOne();
    return manager.createMovable(session.global("counted", name), &session);
  }
  static CallOptions within(CallOptions::Clock::duration patience) {
    CallOptions options;
    options.deadline = CallOptions::in(patience);
    return options;
  }
  static InterpreterManagerOptions keepingInterrupted() {
    InterpreterManagerOptions options;
    options.pool.replacement.afterInterrupt = false;
    return options;
  }
  InterpreterManager manager{2, keepingInterrupted()};
};

TEST_F(Counts, CallsErrorsAndWhatEndedThem) {
  const ReplicatedObj add = function("add"), fail = function("fail"), sleep = function("sleep");
  for (int i = 0; i < 10; ++i) add({i});
  for (int i = 0; i < 3; ++i) EXPECT_THROW(fail({}), PythonException);
  EXPECT_THROW(static_cast<void>(sleep.call({60.0}, within(20ms))), DeadlineExceededError);
  EXPECT_THROW(static_cast<void>(sleep.call({60.0}, within(-1s))), DeadlineExceededError);
  const PoolStats stats = manager.stats();
  ASSERT_EQ(stats.interpreters.size(), 2u);
  std::uint64_t calls = 0, errors = 0;
  for (const InterpreterStats& each : stats.interpreters) {
    calls += each.calls;
    EXPECT_EQ(each.whyBroken, "");
    EXPECT_EQ(each.users, 0u);
    EXPECT_TRUE(each.running.empty());
    for (const auto& [type, count] : each.errors) {
      EXPECT_EQ(type, "ValueError");
      errors += count;
    }
  }
  EXPECT_EQ(errors, 3u);
  EXPECT_EQ(calls, 14u) << "but not the one whose deadline had passed";
  EXPECT_EQ(stats.ended.deadlineRunning, 1u);
  EXPECT_EQ(stats.ended.deadlineInLine, 1u);
  EXPECT_EQ(stats.ended.cancelledRunning + stats.ended.queueFull, 0u);
  EXPECT_EQ(stats.queueTime.total(), calls);
  EXPECT_GT(stats.runTime.total(), 0u);
}

TEST_F(Counts, CallsUnderWayWithTheirModelAndAge) {
  const ReplicatedObj sleep = function("sleep");
  std::jthread thread([&] { sleep({0.3}); });
  for (;;) {
    const PoolStats stats = manager.stats();
    std::size_t running = 0;
    for (const InterpreterStats& each : stats.interpreters)
      for (const RunningCallFigures& call : each.running) {
        EXPECT_EQ(call.model, "sleep");
        EXPECT_LT(call.age, 60s);
        EXPECT_GE(each.users, 1u);
        ++running;
      }
    if (running == 1) break;
    std::this_thread::yield();
  }
}

TEST_F(Counts, AHealthyPoolIsReady) {
  const PoolHealth health = manager.health();
  EXPECT_TRUE(health.ready);
  EXPECT_TRUE(health.reasons.empty());
}

TEST(DurationTally, PutsADurationUnderItsBound) {
  DurationTally tally;
  tally.add(50us);
  tally.add(100us);
  tally.add(101us, 3);
  tally.add(1h);
  const DurationHistogram histogram = tally.read();
  EXPECT_EQ(histogram.counts[0], 2u);
  EXPECT_EQ(histogram.counts[1], 3u);
  EXPECT_EQ(histogram.counts.back(), 1u);
  EXPECT_EQ(histogram.total(), 6u);
  EXPECT_EQ(histogram.sum, 1h + 453us);
}

// (Sums of fractions depend on their order, and interpreters change places.)
TEST(DurationTally, SumsAreTheSameInAnyOrder) {
  std::vector<DurationHistogram> each;
  for (const auto time : {100'000'000ns, 200'000'000ns, 300'000'000ns}) {
    DurationTally tally;
    tally.add(time);
    each.push_back(tally.read());
  }
  DurationHistogram forth, back;
  for (int i = 0; i < 3; ++i) {
    forth += each[i];
    back += each[2 - i];
  }
  EXPECT_EQ(forth.sum, back.sum);
}

TEST(CallTallies, TellAFewTypesApart) {
  CallTallies tallies(1);
  for (int i = 0; i < 200; ++i) tallies.failed(0, "Error" + std::to_string(i));
  const auto errors = tallies.read(1).now[0].errors;
  EXPECT_LE(errors.size(), 65u);
  EXPECT_EQ(errors.at("(other types)"), 136u);
}

TEST(CallTallies, CountAPlaceAnewForTheNextInterpreter) {
  CallTallies tallies(2);
  tallies.failed(0, "ValueError");
  tallies.interrupted(0);
  tallies.waited(0, 1ms);
  tallies.gotGil(0, 1ms, 128);
  tallies.ran(0, 1ms, 3);
  tallies.ran(1, 1ms, 1);
  tallies.startOver(0);
  const CallTallies::All all = tallies.read(2);
  EXPECT_TRUE(all.now[0].errors.empty());
  EXPECT_EQ(all.now[0].interrupts, 0u);
  EXPECT_EQ(all.now[0].queueTime.total() + all.now[0].gilWait.total(), 0u);
  EXPECT_EQ(all.now[0].runTime.total(), 0u);
  EXPECT_EQ(all.now[1].runTime.total(), 1u);
  EXPECT_EQ(all.earlier.errors.at("ValueError"), 1u);
  EXPECT_EQ(all.earlier.interrupts, 1u);
  EXPECT_EQ(all.earlier.queueTime.total(), 1u);
  EXPECT_EQ(all.earlier.gilWait.total(), 128u);
  EXPECT_EQ(all.earlier.runTime.total(), 3u);
}

TEST_F(Counts, HowLongCallsWaitForTheGil) {
  const ReplicatedObj sleep = function("sleep");
  sleep({0.01});  // is known to be long, and each is measured
  for (int i = 0; i < 5; ++i) sleep({0.01});
  const PoolStats stats = manager.stats();
  EXPECT_GE(stats.gilWait.total(), 6u);
  EXPECT_EQ(stats.gilWait.total(), stats.runTime.total());
  DurationHistogram sum;
  for (const InterpreterStats& each : stats.interpreters) sum += each.gilWait;
  EXPECT_EQ(sum.counts, stats.gilWait.counts);
}

TEST_F(Counts, WhatOneObjectsCallsCameTo) {
  const ReplicatedObj sleep = function("sleep"), fail = function("fail");
  for (int i = 0; i < 3; ++i) sleep({0.002});
  EXPECT_THROW(fail({}), PythonException);
  EXPECT_EQ(sleep.stats().model, "sleep");
  EXPECT_EQ(sleep.stats().runTime.total(), 3u);
  EXPECT_EQ(sleep.stats().errors, 0u);
  EXPECT_EQ(fail.stats().errors, 1u);
}

TEST(CallTallies, ErrorsAreNeitherLostNorDoubledWhileAPlaceIsStartedOver) {
  CallTallies tallies(1);
  std::atomic<bool> done = false;
  std::jthread keeper([&] {
    while (!done) tallies.startOver(0);
  });
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    tallies.failed(0, "Error");
    CallTallies::All all = tallies.read(1);
    ASSERT_EQ(all.earlier.errors["Error"] + all.now[0].errors["Error"], i);
  }
  done = true;
}

TEST_F(Counts, ACallThatNeedNotBeginAnyMoreIsNotCountedAsMade) {
  const ReplicatedObj add = function("add");
  const auto session = manager.allInstances()[0].acquireSession();
  // Those that come to have this interpreter have its GIL when their deadline has passed.
  for (int i = 0; i < 3; ++i) {
    std::jthread caller;
    const auto inside = session.enter();  // ends before the caller is waited for
    caller = std::jthread([&] {
      for (int call = 0; call < 2; ++call) try {
          static_cast<void>(add.call({1}, within(20ms)));
        } catch (const DeadlineExceededError&) {
        }
    });
    std::this_thread::sleep_for(100ms);
  }
  const PoolStats stats = manager.stats();
  std::uint64_t calls = 0;
  for (const InterpreterStats& each : stats.interpreters) calls += each.calls;
  EXPECT_EQ(calls + stats.ended.deadlineInLine, 6u);
  EXPECT_EQ(stats.queueTime.total(), calls);
}

TEST_F(Counts, NoCountOfQueueTimesFallsWhileCallsWait) {
  const ReplicatedObj add = function("add");
  std::atomic<bool> done = false;
  std::vector<std::jthread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; !done; ++i) add({i});
    });
  DurationHistogram before;
  for (int i = 0; i < 1000; ++i) {
    const DurationHistogram now = manager.stats().queueTime;
    for (std::size_t bound = 0; bound < now.counts.size(); ++bound)
      ASSERT_GE(now.counts[bound], before.counts[bound]);
    before = now;
  }
  done = true;
}

TEST_F(Counts, NoInterpretersErrorsFallWhileItLeaves) {
  const ReplicatedObj fail = function("fail");
  std::atomic<bool> done = false;
  std::vector<std::jthread> readers;
  for (int t = 0; t < 2; ++t)
    readers.emplace_back([&] {
      struct Seen {
        std::chrono::milliseconds age{0};
        std::uint64_t errors = 0;
      };
      std::map<int, Seen> seen;  // by number, which a later interpreter can have again
      while (!done)
        for (const InterpreterStats& each : manager.stats().interpreters) {
          Seen& before = seen[each.interpreter];
          if (each.age < before.age) before = {};
          Seen now{each.age, 0};
          for (const auto& [type, count] : each.errors) now.errors += count;
          EXPECT_GE(now.errors, before.errors) << "interpreter " << each.interpreter;
          before = now;
        }
    });
  for (std::size_t i = 0; i < 10; ++i) {
    for (int call = 0; call < 10; ++call) EXPECT_THROW(fail({}), PythonException);
    manager.replace(manager.allInstances()[i % 2].slot());
  }
  done = true;
}

int printPage() {
  InterpreterManager manager(2);
  manager.registerModuleSource("counted", kModule);
  const auto function = [&](const char* name) {
    auto session = manager.acquireOne();
    return manager.createMovable(session.global("counted", name), &session);
  };
  const ReplicatedObj add = function("add");
  for (int i = 0; i < 5; ++i) add({i});
  for (const char* name : {"fail", "fail_oddly"}) try {
      function(name)({});
    } catch (const PythonException&) {
    }
  std::fputs(prometheusText(manager.stats(), "a \"pool\"\n\\").c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace multipy::runtime

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "page") return multipy::runtime::printPage();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
