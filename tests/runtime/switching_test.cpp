// A ReplicatedObj that becomes another one while it is called: without a gap, and with nothing left
// of the old one.
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

constexpr const char* kModule = R"(
import time

class Version:
    alive = {}
    def __init__(self, number):
        self.number, self.warm = number, False
        self._count(1)
    def __setstate__(self, state):
        if state['number'] < 0:
            raise ValueError('this version is damaged')
        self.__dict__.update(state)
        self._count(1)
    def __del__(self):
        self._count(-1)
    def _count(self, n):
        Version.alive[self.number] = Version.alive.get(self.number, 0) + n
    def __call__(self, seconds=0):
        time.sleep(seconds)
        return self.number
    def warm_up(self):
        self.warm = True
        return self.number
    def is_warm(self):
        return self.warm

def alive(number):
    return Version.alive.get(number, 0)
)";

class Switching : public testing::Test {
 protected:
  static constexpr int kInterpreters = 3;
  Switching() : manager(kInterpreters) { manager.registerModuleSource("versions", kModule); }

  ReplicatedObj version(int number) {
    auto session = manager.acquireOne();
    return manager.createMovable(session.global("versions", "Version")({number}), &session);
  }
  int alive(int number) {
    int count = 0;
    for (const Interpreter& each : manager.allInstances())
      count += static_cast<int>(
          each.acquireSession().global("versions", "alive")({number}).toIValue().toInt());
    return count;
  }
  /// Waits until there is none in any interpreter.
  void expectNoneLeft(int number) {
    while (alive(number) != 0) std::this_thread::sleep_for(1ms);
  }
  int numberOf(const ReplicatedObj& object) { return static_cast<int>(object({}).toInt()); }

  InterpreterManager manager;
};

TEST_F(Switching, ReachesEveryCopyOfTheHandle) {
  const ReplicatedObj model = version(1);
  const ReplicatedObj copy = model;  // NOLINT: that is the point
  EXPECT_EQ(numberOf(copy), 1);
  model.switchTo(version(2));
  EXPECT_EQ(numberOf(model), 2);
  EXPECT_EQ(numberOf(copy), 2);
  EXPECT_EQ(copy.callAsync({}).get().toInt(), 2);
  EXPECT_EQ(copy.acquireSession().self.attr("number").toIValue().toInt(), 2);
  auto session = manager.acquireOne();
  EXPECT_EQ(session.fromMovable(copy).attr("number").toIValue().toInt(), 2);
}

TEST_F(Switching, LoadsAndWarmsUpInEveryInterpreterFirst) {
  const ReplicatedObj model = version(1);
  int warmed = 0;
  model.switchTo(version(2), [&](InterpreterSession& session) {
    EXPECT_EQ(session.self.attr("warm_up")({}).toIValue().toInt(), 2);
    EXPECT_EQ(numberOf(model), 1) << "the old one serves until all are warm";
    ++warmed;
  });
  EXPECT_EQ(warmed, kInterpreters);
  for (const Interpreter& each : manager.allInstances())
    EXPECT_TRUE(model.acquireSession(&each).self.attr("is_warm")({}).toIValue().toBool());
}

TEST_F(Switching, LeavesTheOldOneServingWhereAnythingFails) {
  const ReplicatedObj model = version(1);
  EXPECT_THROW(model.switchTo(version(-1)), PythonException) << "it cannot be loaded";
  EXPECT_EQ(numberOf(model), 1);
  int warmed = 0;
  EXPECT_THROW(model.switchTo(version(2),
                              [&](InterpreterSession& session) {
                                if (++warmed == kInterpreters) session.self.attr("no such");
                              }),
               PythonException);
  EXPECT_EQ(warmed, kInterpreters);
  EXPECT_EQ(numberOf(model), 1);
  expectNoneLeft(2);
}

TEST_F(Switching, CallsUnderWayEndOnTheOldOneWhichGoesThen) {
  const ReplicatedObj model = version(1);
  std::vector<std::future<at::IValue>> old;
  for (int i = 0; i < kInterpreters; ++i) old.push_back(model.callAsync({0.3}));
  const auto running = [&] {
    std::size_t count = 0;
    for (const InterpreterStats& each : manager.stats().interpreters) count += each.running.size();
    return count;
  };
  while (running() != kInterpreters) std::this_thread::yield();
  model.switchTo(version(2));
  EXPECT_EQ(numberOf(model), 2);
  for (auto& each : old) EXPECT_EQ(each.get().toInt(), 1);
  expectNoneLeft(1);
  EXPECT_EQ(alive(2), kInterpreters);
}

TEST_F(Switching, AgainAndAgainUnderLoadLosesNothing) {
  const ReplicatedObj model = version(1);
  std::atomic<int> newest{1}, oldest{1};
  std::atomic<bool> stop{false};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        while (!stop) {
          const int least = oldest;
          const int number = numberOf(model);
          ASSERT_GE(number, least) << "a call that came after a switch";
          ASSERT_LE(number, newest);
        }
      });
    for (int i = 2; i <= 30; ++i) {
      newest = i;
      model.switchTo(version(i));
      oldest = i;
    }
    stop = true;
  }
  for (int i = 1; i < 30; ++i) expectNoneLeft(i);
  EXPECT_EQ(numberOf(model), 30);
}

TEST_F(Switching, ACallThatIsInLineMeanwhileIsCountedOnce) {
  const ReplicatedObj model = version(1);
  std::stop_source stop;  // of those under way, which nothing else ends
  CallOptions untilStopped, alone;
  untilStopped.stop = stop.get_token();
  alone.alone = true;
  std::vector<std::future<at::IValue>> old;
  for (int i = 0; i < kInterpreters; ++i) old.push_back(model.callAsync({3600.0}, untilStopped));
  const auto running = [&] {
    int count = 0;
    for (const InterpreterStats& each : manager.stats().interpreters)
      count += static_cast<int>(each.running.size());
    return count;
  };
  while (running() != kInterpreters) std::this_thread::yield();
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] { EXPECT_EQ(model.call({}, alone).toInt(), 2); });
  while (manager.stats().waiting[1] != 3) std::this_thread::yield();
  model.switchTo(version(2));
  stop.request_stop();
  callers.clear();
  for (auto& each : old) EXPECT_THROW(each.get(), CancelledError);
  const PoolStats stats = manager.stats();
  std::uint64_t calls = stats.callsOfRetired;
  for (const InterpreterStats& each : stats.interpreters) calls += each.calls;
  EXPECT_EQ(calls, 3u + kInterpreters);
}

TEST_F(Switching, NewInterpretersHaveTheNewOne) {
  const ReplicatedObj model = version(1);
  model.switchTo(version(2));
  manager.replace(manager.allInstances()[0].slot());
  manager.resize(kInterpreters + 1);
  for (const Interpreter& each : manager.allInstances())
    EXPECT_EQ(model.acquireSession(&each).self.attr("number").toIValue().toInt(), 2);
}

TEST_F(Switching, ToWhatCannotTakeTheCallsIsRefused) {
  const ReplicatedObj model = version(1), next = version(2);
  EXPECT_THROW(model.switchTo(ReplicatedObj()), InvalidArgument);
  EXPECT_THROW(model.switchTo(model), InvalidArgument);
  InterpreterManager another(1);
  another.registerModuleSource("versions", kModule);
  auto session = another.acquireOne();
  const ReplicatedObj foreign =
      another.createMovable(session.global("versions", "Version")({3}), &session);
  EXPECT_THROW(model.switchTo(foreign), InvalidArgument);
  model.switchTo(next);
  EXPECT_THROW(next.switchTo(model), InvalidArgument) << "they are the same by now";
  EXPECT_EQ(numberOf(next), 2);
}

TEST(SwitchingWithoutItsManager, IsRefused) {
  std::optional<ReplicatedObj> model, next;
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("versions", kModule);
    auto session = manager.acquireOne();
    const Obj version = session.global("versions", "Version")({1});
    model = manager.createMovable(version, &session);
    next = manager.createMovable(version, &session);
  }
  EXPECT_THROW(model->switchTo(*next), HandleError);
  EXPECT_THROW(model->shareCalls(*next, 0.5), HandleError);
}

TEST_F(Switching, TwoHandlesMayComeToTheSame) {
  const ReplicatedObj one = version(1), two = version(2);
  one.switchTo(two);
  two.switchTo(version(3));
  EXPECT_EQ(numberOf(one), 3);
  EXPECT_EQ(numberOf(two), 3);
  one.switchTo(version(4));
  EXPECT_EQ(numberOf(one), 4);
  EXPECT_EQ(numberOf(two), 3);
}

TEST_F(Switching, SharesCallsEvenlyForAComparison) {
  const ReplicatedObj model = version(1), candidate = version(2);
  model.shareCalls(candidate, 0.25);
  int others = 0;
  for (int i = 0; i < 100; ++i) others += numberOf(model) == 2;
  EXPECT_EQ(others, 25);
  model.shareCalls(candidate, 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(numberOf(model), 1);
  model.shareCalls(candidate, 1);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(numberOf(model), 2);
  model.switchTo(candidate);
  EXPECT_EQ(numberOf(model), 2);
  expectNoneLeft(1);
  EXPECT_THROW(model.shareCalls(candidate, 1.5), InvalidArgument);
}

TEST_F(Switching, InACircleIsRefused) {
  const ReplicatedObj one = version(1), two = version(2), three = version(3);
  one.shareCalls(two, 1);
  two.shareCalls(three, 1);
  EXPECT_THROW(three.shareCalls(one, 1), InvalidArgument);
  EXPECT_THROW(three.switchTo(one), InvalidArgument);
  EXPECT_THROW(two.switchTo(one), InvalidArgument);
  EXPECT_EQ(numberOf(one), 3);
}

TEST_F(Switching, OfModelsFromPackages) {
  const auto load = [&] {
    return manager.loadPackage(MULTIPY_TEST_PACKAGES "/simple.pt").loadPickle("model", "model.pkl");
  };
  const at::Tensor x = at::ones({10, 20});
  const ReplicatedObj model = load();
  const at::Tensor expected = model({x}).toTensor();
  for (int i = 0; i < 3; ++i) {
    model.switchTo(load(), [&](InterpreterSession& session) { session.self({x}); });
    EXPECT_TRUE(at::equal(model({x}).toTensor(), expected));
  }
}

}  // namespace
}  // namespace multipy::runtime
