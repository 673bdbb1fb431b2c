// What an observer is told: of each call once, whatever comes of it, and of interpreters.
#include "multipy/runtime/pool_observer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "until.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

struct Told {
  CallReport report;
  std::string model, tag, error;
};

class Record final : public PoolObserver {
 public:
  void callEnded(const CallReport& call) noexcept override {
    const std::lock_guard lock(mutex_);
    calls_.push_back(
        {call, std::string(call.model), std::string(call.tag), std::string(call.error)});
  }
  void interpreterChanged(const InterpreterChange& change) noexcept override {
    const std::lock_guard lock(mutex_);
    ++changes_[change.what];
    if (change.reason) reasons_.push_back(*change.reason);
    errors_ += change.error;
  }
  std::vector<Told> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  int changes(InterpreterChange::What what) {
    const std::lock_guard lock(mutex_);
    return changes_[what];
  }
  std::vector<ReplacementReason> reasons() {
    const std::lock_guard lock(mutex_);
    return reasons_;
  }
  std::string errors() {
    const std::lock_guard lock(mutex_);
    return errors_;
  }

 private:
  std::mutex mutex_;
  std::vector<Told> calls_;
  std::map<InterpreterChange::What, int> changes_;
  std::vector<ReplacementReason> reasons_;
  std::string errors_;
};

class Observed : public testing::Test {
 protected:
  explicit Observed(PoolOptions pool = {}) : manager(1, with(std::move(pool))) {
    manager.registerModuleSource("observed", R"(
import time
def add(a, b): return a + b
def sleep(seconds): time.sleep(seconds)
def fail(): raise ValueError('no such thing')
)");
  }
  InterpreterManagerOptions with(PoolOptions pool) {
    InterpreterManagerOptions options;
    options.pool = std::move(pool);
    options.pool.replacement.afterInterrupt = false;
    options.observer = record;
    return options;
  }
  ReplicatedObj function(const char* name) {
    auto session = manager.acquireOne();
    return manager.createMovable(session.global("observed", name), &session);
  }
  /// The only call there has been.
  Told only() {
    const auto calls = record->calls();
    EXPECT_EQ(calls.size(), 1u);
    return calls.at(0);
  }

  const std::shared_ptr<Record> record = std::make_shared<Record>();
  InterpreterManager manager;
};

TEST_F(Observed, ACallThatReturns) {
  const ReplicatedObj add = function("add");
  CallOptions options;
  options.tag = "request 17";
  options.priority = CallPriority::High;
  EXPECT_EQ(add.call({1, 2}, options).toInt(), 3);
  const Told told = only();
  EXPECT_NE(told.report.id, 0u);
  EXPECT_EQ(told.model, "add");
  EXPECT_EQ(told.tag, "request 17");
  EXPECT_EQ(told.report.priority, CallPriority::High);
  EXPECT_EQ(told.report.interpreter, manager.allInstances()[0].slot());
  EXPECT_LE(told.report.asked, told.report.begun);
  EXPECT_LE(told.report.begun, told.report.ended);
  EXPECT_EQ(told.report.end, CallEnd::Returned);
  EXPECT_EQ(told.error, "");
}

TEST_F(Observed, ACallThatRaises) {
  const ReplicatedObj fail = function("fail");
  EXPECT_THROW(fail({}), PythonException);
  const Told told = only();
  EXPECT_EQ(told.report.end, CallEnd::Raised);
  EXPECT_NE(told.error.find("no such thing"), std::string::npos);
  EXPECT_NE(told.report.id, 0u);
}

TEST_F(Observed, ACallWhoseDeadlineHasPassedBefore) {
  const ReplicatedObj add = function("add");
  CallOptions options;
  options.deadline = CallOptions::in(-1s);
  EXPECT_THROW(static_cast<void>(add.call({1, 2}, options)), DeadlineExceededError);
  const Told told = only();
  EXPECT_EQ(told.report.end, CallEnd::Deadline);
  EXPECT_EQ(told.report.id, 0u);
  EXPECT_EQ(told.report.interpreter, -1);
  EXPECT_EQ(told.report.begun, told.report.ended);
}

TEST_F(Observed, ACallThatIsInterrupted) {
  const ReplicatedObj sleep = function("sleep");
  CallOptions options;
  options.deadline = CallOptions::in(20ms);
  EXPECT_THROW(static_cast<void>(sleep.call({3600.0}, options)), DeadlineExceededError);
  const Told told = only();
  EXPECT_EQ(told.report.end, CallEnd::Deadline);
  EXPECT_NE(told.report.id, 0u);
  EXPECT_NE(told.error.find("in sleep"), std::string::npos) << "where it was: " << told.error;
  EXPECT_EQ(told.error.find("longest running"), std::string::npos)
      << "not by itself: " << told.error;
}

TEST_F(Observed, ACallThatIsInterruptedByHand) {
  const ReplicatedObj sleep = function("sleep");
  EXPECT_FALSE(manager.interrupt(12345));
  std::jthread caller([&] { EXPECT_THROW(sleep({3600.0}), CancelledError); });
  std::uint64_t call = 0;
  until([&] {
    for (const InterpreterStats& each : manager.stats().interpreters)
      for (const RunningCallFigures& running : each.running) call = running.id;
    return call != 0;
  });
  EXPECT_TRUE(manager.interrupt(call));
  caller.join();
  EXPECT_EQ(only().report.end, CallEnd::Cancelled);
  EXPECT_EQ(only().report.id, call);
  EXPECT_FALSE(manager.interrupt(call)) << "it is over";
  EXPECT_EQ(manager.stats().interrupts, 1u);
}

TEST_F(Observed, CallsThatNoThreadWaitsFor) {
  const ReplicatedObj add = function("add"), fail = function("fail");
  std::stop_source stop;
  stop.request_stop();
  CallOptions stopped;
  stopped.stop = stop.get_token();
  EXPECT_EQ(add.callAsync({1, 2}).get().toInt(), 3);
  EXPECT_THROW(fail.callAsync({}).get(), PythonException);
  EXPECT_THROW(add.callAsync({1, 2}, stopped).get(), CancelledError);
  std::map<CallEnd, int> ends;
  for (const Told& told : record->calls()) ++ends[told.report.end];
  EXPECT_EQ(ends[CallEnd::Returned], 1);
  EXPECT_EQ(ends[CallEnd::Raised], 1);
  EXPECT_EQ(ends[CallEnd::Cancelled], 1);
  EXPECT_EQ(record->calls().size(), 3u);
}

TEST_F(Observed, EachCallOnceWithANumberOfItsOwn) {
  const ReplicatedObj add = function("add");
  constexpr int kThreads = 4, kEach = 500;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) add({i, 1});
      });
  }
  std::set<std::uint64_t> ids;
  for (const Told& told : record->calls()) ids.insert(told.report.id);
  EXPECT_EQ(record->calls().size(), static_cast<std::size_t>(kThreads * kEach));
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(kThreads * kEach));
}

TEST_F(Observed, NothingMoreWhenItHasBeenTakenAway) {
  const ReplicatedObj add = function("add");
  manager.setObserver(nullptr);
  add({1, 2});
  EXPECT_TRUE(record->calls().empty());
  manager.setObserver(record);
  add({1, 2});
  EXPECT_EQ(record->calls().size(), 1u);
}

TEST_F(Observed, InterpretersThatComeAndGo) {
  using What = InterpreterChange::What;
  EXPECT_EQ(record->changes(What::Started), 1);
  manager.replace(manager.allInstances()[0].slot());
  EXPECT_EQ(record->changes(What::Started), 2);
  EXPECT_EQ(record->changes(What::Leaves), 1);
  until([&] { return record->changes(What::Ended) == 1; });
  EXPECT_EQ(record->reasons(), std::vector{ReplacementReason::ByHand});
  manager.resize(2);
  manager.resize(1);
  until([&] { return record->changes(What::Ended) == 2; });
  EXPECT_EQ(record->reasons().size(), 1u) << "there is no reason where the pool gets smaller";
}

PoolOptions fullAtOnce() {
  PoolOptions pool;
  pool.mostWaiting = 0;
  pool.replacement.afterTime = 100ms;
  return pool;
}

class FullPool : public Observed {
 protected:
  FullPool() : Observed(fullAtOnce()) {}
};

TEST_F(FullPool, RefusesACallAndTellsIt) {
  const ReplicatedObj add = function("add");
  auto alone = manager.acquireOne();
  std::jthread busy([&] { alone.global("time", "sleep")({0.3}); });
  const auto refused = [&](CallEnd end) {
    for (const Told& told : record->calls())
      if (told.report.end == end) return true;
    return false;
  };
  until([&] {
    CallOptions options;
    options.alone = true;
    try {
      static_cast<void>(add.call({1, 2}, options));
    } catch (const QueueFullError&) {
    }
    return refused(CallEnd::QueueFull);
  });
}

TEST_F(FullPool, TellsOfAnInterpreterThatCannotBeStarted) {
  manager.setWarmUp([warmed = std::make_shared<std::atomic<bool>>(false)](const Interpreter&) {
    if (warmed->exchange(true)) throw std::runtime_error("no licence");  // for all but the first
  });
  until([&] { return record->changes(InterpreterChange::What::CannotStart) > 0; });
  EXPECT_NE(record->errors().find("no licence"), std::string::npos);
}

}  // namespace
}  // namespace multipy::runtime
