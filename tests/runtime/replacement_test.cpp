// Interpreters that are replaced, condemned, warmed up, and pools that are resized, while calls go
// on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "until.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

constexpr const char* kModule = R"(
import os, time
import _multipy_host

warm = False
hoarded = []

def add(a, b=0): return a + b
def where(): return _multipy_host.slot
def is_warm(): return warm
def hoard(n): hoarded.append([bytes(1000) for _ in range(n // 1000)])
def sleep(seconds): time.sleep(seconds)

def warm_up():
    global warm
    warm = True

def hold_on(path):
    """Until there is such a file, whatever is raised."""
    while not os.path.exists(path):
        try:
            time.sleep(0.01)
        except BaseException:
            pass
    return 'at last'
)";

/// A file that is not there until it is made.
class Signal {
 public:
  Signal() : path_(testing::TempDir() + "multipy-signal-" + std::to_string(::getpid())) {
    std::remove(path_.c_str());
  }
  ~Signal() { std::remove(path_.c_str()); }
  void give() const { std::ofstream(path_) << "now"; }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

class Pool {
 public:
  explicit Pool(std::size_t n, const ReplacementOptions& replacement = {},
                std::function<void(const Interpreter&)> warmUp = nullptr)
      : manager(n, with(replacement, std::move(warmUp))) {
    manager.registerModuleSource("replaced", kModule);
  }
  static InterpreterManagerOptions with(const ReplacementOptions& replacement,
                                        std::function<void(const Interpreter&)> warmUp) {
    InterpreterManagerOptions options;
    options.pool.replacement = replacement;
    options.warmUp = std::move(warmUp);
    return options;
  }
  ReplicatedObj function(const char* name) {
    auto session = manager.acquireOne();
    return manager.createMovable(session.global("replaced", name), &session);
  }
  int slot(std::size_t i = 0) { return manager.allInstances()[i].slot(); }
  std::uint64_t replaced(ReplacementReason reason) {
    return manager.stats().replacements[static_cast<std::size_t>(reason)];
  }
  std::size_t in(InterpreterState state) {
    std::size_t count = 0;
    for (const InterpreterStats& each : manager.stats().interpreters) count += each.state == state;
    return count;
  }

  InterpreterManager manager;
};

CallOptions within(CallOptions::Clock::duration patience) {
  CallOptions options;
  options.deadline = CallOptions::in(patience);
  return options;
}

// --- by hand

TEST(Replacement, ByHandPutsANewOneInTheSamePlaceForTheProgram) {
  Pool pool(2);
  const ReplicatedObj add = pool.function("add");
  const Interpreter& first = pool.manager.allInstances()[0];
  const int before = first.slot();
  pool.manager.replace(before);
  EXPECT_NE(first.slot(), before);
  EXPECT_EQ(pool.manager.allInstances().size(), 2u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(add({i, 1}).toInt(), i + 1);
  EXPECT_EQ(add.acquireSession(&first).self({2, 3}).toIValue().toInt(), 5);
  EXPECT_EQ(pool.replaced(ReplacementReason::ByHand), 1u);
  until([&] { return pool.manager.stats().interpreters.size() == 2; });
  EXPECT_EQ(pool.in(InterpreterState::Serving), 2u);
  EXPECT_TRUE(pool.manager.health().reasons.empty());
}

TEST(Replacement, OfOneThatDoesNotServeIsRefused) {
  Pool pool(1);
  EXPECT_THROW(pool.manager.replace(9999), InvalidArgument);
  const int before = pool.slot();
  pool.manager.replace(before);
  EXPECT_THROW(pool.manager.replace(before), InvalidArgument);
}

TEST(Replacement, WaitsForSessionsToEnd) {
  Pool pool(1);
  auto counted = pool.manager.acquireOne();
  auto guest = pool.manager.allInstances()[0].acquireSession();
  const int before = pool.slot();
  pool.manager.replace(before);
  for (auto* const session : {&counted, &guest}) {
    std::this_thread::sleep_for(250ms);  // the keeper looks around meanwhile
    EXPECT_EQ(session->global("replaced", "where")({}).toIValue().toInt(), before);
    EXPECT_EQ(pool.in(InterpreterState::Leaving), 1u);
    *session = pool.manager.acquireOne();
    EXPECT_NE(session->global("replaced", "where")({}).toIValue().toInt(), before);
  }
  until([&] { return pool.manager.stats().interpreters.size() == 1; });
}

TEST(Replacement, LosesNoCallAndDoublesNone) {
  Pool pool(2);
  const ReplicatedObj add = pool.function("add");
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> calls{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; !stop; ++i, ++calls) ASSERT_EQ(add({i, t}).toInt(), i + t);
      });
    for (int i = 0; i < 10; ++i) pool.manager.replace(pool.slot(i % 2));
    stop = true;
  }
  const PoolStats stats = pool.manager.stats();
  std::uint64_t counted = stats.callsOfRetired;
  for (const InterpreterStats& each : stats.interpreters) counted += each.calls;
  EXPECT_EQ(counted, calls);
  EXPECT_EQ(stats.queueTime.total(), calls);
  EXPECT_EQ(pool.replaced(ReplacementReason::ByHand), 10u);
}

TEST(Replacement, KeepsTheErrorsThatWereCounted) {
  Pool pool(1);
  const ReplicatedObj add = pool.function("add");
  EXPECT_THROW(add({1, "text"}), PythonException);
  pool.manager.replace(pool.slot());
  until([&] { return pool.manager.stats().interpreters.size() == 1; });
  EXPECT_EQ(pool.manager.stats().errorsOfRetired.at("TypeError"), 1u);
  EXPECT_TRUE(pool.manager.stats().interpreters[0].errors.empty());
}

// --- by limits

TEST(Replacement, AfterCalls) {
  ReplacementOptions options;
  options.afterCalls = 50;
  Pool pool(2, options);
  const ReplicatedObj add = pool.function("add");
  for (int i = 0; pool.replaced(ReplacementReason::Calls) < 3; ++i)
    ASSERT_EQ(add({i, 1}).toInt(), i + 1);
}

TEST(Replacement, AfterATime) {
  ReplacementOptions options;
  options.afterTime = 200ms;
  Pool pool(1, options);
  until([&] { return pool.replaced(ReplacementReason::Age) >= 2; });
}

TEST(Replacement, WhenItsHeapHasGrown) {
  ReplacementOptions options;
  Pool measured(1);
  measured.function("add")({1});
  options.afterHeapBytes = measured.manager.stats().interpreters[0].heapBytes + 32'000'000;
  options.jitter = 0;
  Pool pool(1, options);
  const int before = pool.slot();
  const ReplicatedObj hoard = pool.function("hoard");
  hoard({1'000'000});
  std::this_thread::sleep_for(250ms);
  EXPECT_EQ(pool.slot(), before);
  hoard({50'000'000});
  until([&] { return pool.replaced(ReplacementReason::Heap) == 1; });
  until([&] { return pool.manager.stats().interpreters.size() == 1; });
  EXPECT_LT(pool.manager.stats().interpreters[0].heapBytes, options.afterHeapBytes);
}

// --- after interrupts

TEST(Replacement, AfterAnInterrupt) {
  Pool pool(1);
  const int before = pool.slot();
  const ReplicatedObj sleep = pool.function("sleep");
  EXPECT_THROW(static_cast<void>(sleep.call({3600.0}, within(20ms))), DeadlineExceededError);
  until([&] { return pool.replaced(ReplacementReason::Interrupted) == 1; });
  until([&] { return pool.slot() != before; });
}

TEST(Replacement, NotAfterAnInterruptWhereThatIsNotWanted) {
  ReplacementOptions options;
  options.afterInterrupt = false;
  Pool pool(1, options);
  const int before = pool.slot();
  const ReplicatedObj sleep = pool.function("sleep");
  EXPECT_THROW(static_cast<void>(sleep.call({3600.0}, within(20ms))), DeadlineExceededError);
  std::this_thread::sleep_for(250ms);
  EXPECT_EQ(pool.slot(), before);
}

TEST(Replacement, CondemnsAnInterpreterWhoseCallDoesNotEnd) {
  ReplacementOptions options;
  options.grace = 50ms;
  Pool pool(1, options);
  const int before = pool.slot();
  const ReplicatedObj holdOn = pool.function("hold_on"), where = pool.function("where");
  const Signal signal;
  std::jthread caller(
      [&] { EXPECT_EQ(holdOn.call({signal.path()}, within(20ms)).toStringRef(), "at last"); });
  until([&] { return pool.replaced(ReplacementReason::Condemned) == 1; });
  EXPECT_NE(where.call({}, within(1h)).toInt(), before) << "there is a new one";
  EXPECT_EQ(pool.in(InterpreterState::Condemned), 1u);
  EXPECT_TRUE(pool.manager.health().ready);
  EXPECT_EQ(pool.manager.health().reasons.size(), 1u);
  std::this_thread::sleep_for(250ms);  // the keeper looks around meanwhile
  EXPECT_EQ(pool.replaced(ReplacementReason::Condemned), 1u);
  signal.give();
  caller.join();
  until([&] { return pool.manager.stats().interpreters.size() == 1; });
  EXPECT_TRUE(pool.manager.health().reasons.empty());
}

TEST(Replacement, IsBoundedWhereInterpretersDoNotEnd) {
  ReplacementOptions options;
  options.grace = 50ms;
  options.mostLeaving = 0;
  Pool pool(1, options);
  const ReplicatedObj holdOn = pool.function("hold_on"), add = pool.function("add");
  const Signal signal;
  std::jthread caller([&] { static_cast<void>(holdOn.call({signal.path()}, within(20ms))); });
  until([&] { return pool.in(InterpreterState::Condemned) == 1; });
  EXPECT_FALSE(pool.manager.health().ready) << "there is none that would serve";
  EXPECT_THROW(static_cast<void>(add.call({1}, within(200ms))), DeadlineExceededError);
  signal.give();
  caller.join();
}

TEST(Replacement, OfManyDoesNotKeepTheProgramsChangesWaiting) {
  constexpr std::size_t kAll = 4;
  Pool pool(kAll);
  std::atomic<bool> isOpen{true}, isInside{false};
  pool.manager.setWarmUp([&](const Interpreter&) {
    isInside = true;
    until([&] { return isOpen.load(); });
  });
  isOpen = isInside = false;
  const ReplicatedObj sleep = pool.function("sleep");
  std::vector<std::future<at::IValue>> calls;
  for (std::size_t i = 0; i < kAll; ++i) calls.push_back(sleep.callAsync({3600.0}, within(300ms)));
  for (auto& call : calls) EXPECT_THROW(call.get(), DeadlineExceededError);
  until([&] { return isInside.load(); });  // the first of them is being replaced
  std::jthread opens([&] {
    std::this_thread::sleep_for(300ms);  // the change is waiting by then
    isOpen = true;
  });
  pool.manager.resize(kAll + 1);
  EXPECT_LT(pool.replaced(ReplacementReason::Interrupted), kAll);
  until([&] { return pool.replaced(ReplacementReason::Interrupted) > 0; });
}

// --- that are broken

TEST(Replacement, OfABrokenOne) {
  Pool pool(1);
  pool.manager.registerModuleSource("torch.functional", "raise RuntimeError('damaged')");
  const int before = pool.slot();
  EXPECT_THROW(pool.manager.acquireOne().global("torch", "ones"), PythonException);
  EXPECT_NE(pool.manager.allInstances()[0].whyBroken(), "");
  pool.manager.registerModuleSource("torch.functional", R"(
import importlib.machinery
_spec = importlib.machinery.PathFinder.find_spec(__name__, __import__("torch").__path__)
exec(compile(_spec.loader.get_data(_spec.origin), _spec.origin, "exec"))
)");
  until([&] { return pool.slot() != before; });
  EXPECT_EQ(pool.replaced(ReplacementReason::Broken), 1u);
  EXPECT_NO_THROW(pool.manager.acquireOne().global("torch", "ones"));
}

// --- warm-up

TEST(WarmUp, ComesBeforeTheFirstCallOfEachInterpreter) {
  std::atomic<int> warmed{0};
  Pool pool(2, {}, [&](const Interpreter& interpreter) {
    interpreter.acquireSession().global("math", "sqrt")({4.0});
    ++warmed;
  });
  EXPECT_EQ(warmed, 2);
  pool.manager.replace(pool.slot(1));
  EXPECT_EQ(warmed, 3);
}

TEST(WarmUp, ThatThrowsEndsTheConstructor) {
  EXPECT_THROW(
      Pool(2, {}, [](const Interpreter& i) { i.acquireSession().global("no_such_module", "x"); }),
      PythonException);
}

TEST(WarmUp, OfWhatIsLoadedLater) {
  Pool pool(2);
  const ReplicatedObj warmUp = pool.function("warm_up"), isWarm = pool.function("is_warm");
  pool.manager.setWarmUp(
      [&](const Interpreter& interpreter) { warmUp.acquireSession(&interpreter).self({}); });
  const auto allAreWarm = [&] {
    bool warm = true;
    for (const Interpreter& each : pool.manager.allInstances())
      warm &= isWarm.acquireSession(&each).self({}).toIValue().toBool();
    return warm;
  };
  EXPECT_TRUE(allAreWarm());
  pool.manager.replace(pool.slot(0));
  pool.manager.resize(3);
  EXPECT_TRUE(allAreWarm());
}

TEST(WarmUp, GoesWithTheManagerWhoseObjectsItHolds) {
  const auto held = std::make_shared<int>();
  const std::weak_ptr<int> still = held;
  {
    Pool pool(1);
    const auto warmUp = [held, model = pool.function("warm_up")](const Interpreter& interpreter) {
      model.acquireSession(&interpreter);
    };
    pool.manager.setWarmUp(warmUp);
  }
  EXPECT_EQ(still.use_count(), 1);
}

TEST(WarmUp, ThatThrowsLeavesTheOldOneServing) {
  Pool pool(1);
  std::atomic<bool> fails{false};
  pool.manager.setWarmUp([&](const Interpreter& interpreter) {
    if (fails) interpreter.acquireSession().global("no_such_module", "x");
  });
  fails = true;
  const int before = pool.slot();
  EXPECT_THROW(pool.manager.replace(before), PythonException);
  EXPECT_EQ(pool.slot(), before);
  EXPECT_THROW(pool.manager.resize(2), PythonException);
  EXPECT_EQ(pool.manager.allInstances().size(), 1u);

  const ReplicatedObj sleep = pool.function("sleep"), add = pool.function("add");
  EXPECT_THROW(static_cast<void>(sleep.call({3600.0}, within(20ms))), DeadlineExceededError);
  until([&] { return pool.manager.stats().failedReplacements == 1; });
  EXPECT_EQ(pool.slot(), before);
  EXPECT_EQ(add({1, 2}).toInt(), 3);
  const PoolHealth health = pool.manager.health();
  EXPECT_TRUE(health.ready);
  ASSERT_EQ(health.reasons.size(), 1u);
  EXPECT_NE(health.reasons[0].find("no_such_module"), std::string::npos);
  fails = false;
  until([&] { return pool.slot() != before; });
}

TEST(WarmUp, CannotChangeThePool) {
  Pool pool(1);
  EXPECT_THROW(pool.manager.setWarmUp([&](const Interpreter&) { pool.manager.resize(2); }),
               HandleError);
}

// --- resizing

TEST(Resizing, GrowsAndShrinksUnderLoad) {
  Pool pool(2);
  const ReplicatedObj add = pool.function("add");
  std::atomic<bool> stop{false};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; !stop; ++i) ASSERT_EQ(add({i, t}).toInt(), i + t);
      });
    for (const std::size_t n : {4u, 1u, 3u, 2u, 6u, 1u}) {
      pool.manager.resize(n);
      EXPECT_EQ(pool.manager.allInstances().size(), n);
      EXPECT_EQ(pool.in(InterpreterState::Serving), n);
    }
    stop = true;
  }
  until([&] { return pool.manager.stats().interpreters.size() == 1; });
}

TEST(Resizing, LetsOtherChangesTakeTurns) {
  Pool pool(1);
  std::atomic<bool> isOpen{true}, isInside{false};
  pool.manager.setWarmUp([&](const Interpreter&) {
    isInside = true;
    until([&] { return isOpen.load(); });
  });
  isOpen = isInside = false;
  std::jthread grows([&] { pool.manager.resize(4); });
  until([&] { return isInside.load(); });  // in the first of the new ones
  std::jthread opens([&] {
    std::this_thread::sleep_for(300ms);  // the replacement is waiting by then
    isOpen = true;
  });
  pool.manager.replace(pool.slot());
  EXPECT_LT(pool.manager.allInstances().size(), 4u);
  grows.join();
  EXPECT_EQ(pool.manager.allInstances().size(), 4u);
}

TEST(Resizing, LeavesHandlesOfThoseThatAreGone) {
  Pool pool(2);
  const Interpreter& second = pool.manager.allInstances()[1];
  auto session = second.acquireSession();
  pool.manager.resize(1);
  EXPECT_THROW(second.acquireSession(), HandleError);
  EXPECT_EQ(session.global("replaced", "add")({1, 2}).toIValue().toInt(), 3);
  pool.manager.resize(2);
  EXPECT_EQ(second.acquireSession().global("replaced", "add")({1, 2}).toIValue().toInt(), 3);
  EXPECT_NE(second.slot(), session.global("replaced", "where")({}).toIValue().toInt());
}

TEST(Resizing, ToNoneIsRefused) {
  Pool pool(1);
  EXPECT_THROW(pool.manager.resize(0), InvalidArgument);
  EXPECT_THROW(pool.manager.resize(100'000), InvalidArgument);
}

TEST(Resizing, MakesMoreCallsAtOncePossibleThatNoThreadWaitsFor) {
  Pool pool(1);
  const ReplicatedObj sleep = pool.function("sleep");
  pool.manager.resize(3);
  std::vector<std::future<at::IValue>> results;
  for (int i = 0; i < 3; ++i) results.push_back(sleep.callAsync({0.2}));
  until([&] {
    std::size_t running = 0;
    for (const InterpreterStats& each : pool.manager.stats().interpreters)
      running += each.running.size();
    return running == 3;
  });
  for (auto& result : results) result.get();
}

}  // namespace
}  // namespace multipy::runtime
