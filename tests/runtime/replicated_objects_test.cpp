// ReplicatedObj: one set of weights, an object in each interpreter, calls from
// anywhere.
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

using testing_support::expectError;

constexpr const char* kTools = R"(
class Tracked:
    alive = 0
    revived = 0
    def __init__(self, value):
        self.value = value
        Tracked.alive += 1
    def __setstate__(self, state):
        self.__dict__.update(state)
        Tracked.alive += 1
        Tracked.revived += 1
    def __del__(self):
        Tracked.alive -= 1
    def __call__(self, x):
        return self.value + x
    def add(self, x, y=0):
        return self.value + x + y

def alive():
    return Tracked.alive
def revived():
    return Tracked.revived
)";

class ReplicatedObjects : public testing::Test {
 protected:
  static constexpr int kInterpreters = 3;
  ReplicatedObjects() : manager(kInterpreters) { manager.registerModuleSource("tools", kTools); }

  ReplicatedObj tracked(int value) {
    auto I = manager.acquireOne();
    return manager.createMovable(I.global("tools", "Tracked")({value}), &I);
  }
  int64_t ask(int interpreter, const char* what) {
    auto I = manager.allInstances()[interpreter].acquireSession();
    return I.global("tools", what)({}).toIValue().toInt();
  }
  int64_t askAll(const char* what) {
    int64_t sum = 0;
    for (int i = 0; i < kInterpreters; ++i) sum += ask(i, what);
    return sum;
  }

  at::NoGradGuard noGradients;
  InterpreterManager manager;
};

TEST_F(ReplicatedObjects, CallsAndAttributes) {
  ReplicatedObj object = tracked(10);
  EXPECT_EQ(object({1}).toInt(), 11);
  EXPECT_EQ(object.callKwargs({{"x", 2}}).toInt(), 12);
  EXPECT_EQ(object.callKwargs({}, {{"x", 3}}).toInt(), 13);
  EXPECT_TRUE(object.hasattr("add"));
  EXPECT_FALSE(object.hasattr("subtract"));
  expectError<PythonException>([&] { object({"text"}); }, {"TypeError"});
  expectError<PythonException>([&] { object({1, 2, 3}); }, {"TypeError"});
  EXPECT_EQ(object({4}).toInt(), 14);
}

TEST_F(ReplicatedObjects, UnpickledOncePerInterpreterAndKept) {
  ReplicatedObj object = tracked(1);
  for (int round = 0; round < 3; ++round)
    for (const Interpreter& interpreter : manager.allInstances())
      EXPECT_EQ(object.acquireSession(&interpreter).self({1}).toIValue().toInt(), 2);
  EXPECT_EQ(askAll("revived"), kInterpreters);
  EXPECT_EQ(askAll("alive"), kInterpreters);
}

TEST_F(ReplicatedObjects, ConcurrentFirstUseKeepsOne) {
  for (int round = 0; round < 10; ++round) {
    ReplicatedObj object = tracked(round);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] { EXPECT_EQ(object({1}).toInt(), round + 1); });
    for (auto& thread : threads) thread.join();
    EXPECT_LE(askAll("alive"), kInterpreters);
    object = ReplicatedObj();
    EXPECT_EQ(askAll("alive"), 0);
  }
}

TEST_F(ReplicatedObjects, StateChangedInOneInterpreterStaysThere) {
  ReplicatedObj object = tracked(1);
  auto first = object.acquireSession(&manager.allInstances()[0]);
  first.self.attr("__setattr__")({"value", 100});
  EXPECT_EQ(object.acquireSession(&manager.allInstances()[0]).self({0}).toIValue().toInt(), 100);
  EXPECT_EQ(object.acquireSession(&manager.allInstances()[1]).self({0}).toIValue().toInt(), 1);
}

TEST_F(ReplicatedObjects, UnloadGivesUpAndTheNextUseBringsBack) {
  ReplicatedObj object = tracked(5);
  for (const Interpreter& interpreter : manager.allInstances()) object.acquireSession(&interpreter);
  EXPECT_EQ(askAll("alive"), kInterpreters);
  object.unload(&manager.allInstances()[1]);
  EXPECT_EQ(ask(1, "alive"), 0);
  EXPECT_EQ(askAll("alive"), kInterpreters - 1);
  object.unload();
  EXPECT_EQ(askAll("alive"), 0);
  EXPECT_EQ(object({1}).toInt(), 6);
  EXPECT_EQ(askAll("alive"), 1);
}

TEST_F(ReplicatedObjects, ObjsKeepWhatIsUnloaded) {
  ReplicatedObj object = tracked(5);
  auto I = object.acquireSession();
  object.unload();
  object = ReplicatedObj();
  EXPECT_EQ(I.self({1}).toIValue().toInt(), 6);
}

TEST_F(ReplicatedObjects, UnloadedWhileOthersCall) {
  ReplicatedObj object = tracked(0);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; !stop; ++i)
        if (object({i}).toInt() != i) ++wrong;
    });
  for (int i = 0; i < 300; ++i) object.unload();
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  object = ReplicatedObj();
  EXPECT_EQ(askAll("alive"), 0);
}

TEST_F(ReplicatedObjects, ToObjAndFromMovable) {
  ReplicatedObj object = tracked(7);
  auto I = manager.acquireOne();
  Obj one = object.toObj(&I);
  Obj two = I.fromMovable(object);
  EXPECT_TRUE(I.isOwner(one));
  EXPECT_EQ(one.attr("value").toIValue().toInt(), 7);
  EXPECT_EQ(two.attr("add")({1, 2}).toIValue().toInt(), 10);
  expectError<InvalidArgument>([&] { object.toObj(nullptr); }, {"session", "null"});
}

TEST_F(ReplicatedObjects, EmptyOne) {
  const ReplicatedObj empty;
  expectError<InvalidArgument>([&] { empty({1}); }, {"ReplicatedObj", "empty"});
  expectError<InvalidArgument>([&] { empty.acquireSession(); }, {"empty"});
  auto I = manager.acquireOne();
  expectError<InvalidArgument>([&] { I.fromMovable(empty); }, {"empty"});
}

TEST_F(ReplicatedObjects, OnAStandAloneInterpreter) {
  Interpreter alone(std::make_shared<NoopEnvironment>());
  manager.registerModuleSource("everywhere", "value = 3\n");
  auto I = manager.acquireOne();
  ReplicatedObj replicated = manager.createMovable(I.global("builtins", "complex")({1.0, 2.0}), &I);
  auto J = replicated.acquireSession(&alone);
  EXPECT_EQ(J.self.attr("imag").toIValue().toDouble(), 2.0);
  replicated.unload(&alone);
}

TEST_F(ReplicatedObjects, WeightsExistOnce) {
  ReplicatedObj tensor;
  void* address = nullptr;
  {
    auto I = manager.acquireOne();
    Obj ones = I.global("torch", "ones")({1000});
    address = ones.toIValue().toTensor().data_ptr();
    tensor = manager.createMovable(ones, &I);
  }
  std::set<void*> addresses;
  for (const Interpreter& interpreter : manager.allInstances()) {
    auto I = tensor.acquireSession(&interpreter);
    addresses.insert(I.self.toIValue().toTensor().data_ptr());
  }
  EXPECT_EQ(addresses, std::set<void*>{address});
}

TEST_F(ReplicatedObjects, NotEverythingCanBeReplicated) {
  auto I = manager.acquireOne();
  Obj lock = I.global("threading", "Lock")({});
  expectError<PythonException>([&] { manager.createMovable(lock, &I); }, {"pickle"});
  EXPECT_EQ(I.fromIValue(1).toIValue().toInt(), 1);
}

}  // namespace
}  // namespace multipy::runtime
