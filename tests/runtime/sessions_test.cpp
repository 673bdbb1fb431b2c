// Sessions: reservations of interpreters, from one thread and from many.
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "multipy/runtime/python_method_wrapper.h"

namespace multipy::runtime {
namespace {

using testing_support::expectError;

constexpr const char* kTools = R"(
import threading

def add(a, b):
    return a + b

def call(function, *args):
    return function(*args)

class Counter:
    def __init__(self):
        self.value = 0
        self.lock = threading.Lock()
    def more(self):
        with self.lock:
            self.value += 1
            return self.value
counter = Counter()
)";

TEST(Sessions, InterpretersArePrivate) {
  InterpreterManager manager(3);
  manager.registerModuleSource("identity", "none = id(None)\nstate = []\n");
  std::set<int64_t> nones;
  for (const Interpreter& interpreter : manager.allInstances()) {
    auto I = interpreter.acquireSession();
    nones.insert(I.global("identity", "none").toIValue().toInt());
    I.global("identity", "state").attr("append")({1});
    EXPECT_EQ(I.global("identity", "state").attr("__len__")({}).toIValue().toInt(), 1);
  }
  EXPECT_EQ(nones.size(), 3u);
}

TEST(Sessions, AcquireOneSpreadsOverInterpretersAndGivesBack) {
  InterpreterManager manager(2);
  manager.registerModuleSource("identity", "none = id(None)\n");
  const auto which = [](const InterpreterSession& I) {
    return I.global("identity", "none").toIValue().toInt();
  };
  {
    auto first = manager.acquireOne();
    auto second = manager.acquireOne();
    EXPECT_NE(which(first), which(second));
    const int64_t free = which(second);
    second = manager.acquireOne();  // the old reservation ends only afterwards
    EXPECT_EQ(free == which(second) || which(first) == which(second), true);
  }
  auto first = manager.acquireOne();
  auto second = manager.acquireOne();
  EXPECT_NE(which(first), which(second));
}

TEST(Sessions, MovingKeepsIdentity) {
  InterpreterManager manager(1);
  auto I = manager.acquireOne();
  Obj seven = I.fromIValue(7);
  InterpreterSession moved = std::move(I);
  EXPECT_TRUE(moved.isOwner(seven));
  EXPECT_EQ(seven.toIValue().toInt(), 7);
  expectError<HandleError>([&] { I.global("math", "pi"); }, {"moved from"});
  EXPECT_FALSE(I.isOwner(seven));

  InterpreterSession other = manager.acquireOne();
  other = std::move(moved);
  EXPECT_TRUE(other.isOwner(seven));
  EXPECT_EQ(seven.toIValue().toInt(), 7);
}

TEST(Sessions, OwnershipIsPerSession) {
  InterpreterManager manager(1);
  auto first = manager.acquireOne();
  auto second = manager.acquireOne();
  Obj mine = first.fromIValue(1);
  EXPECT_TRUE(first.isOwner(mine));
  EXPECT_FALSE(second.isOwner(mine));
  EXPECT_FALSE(first.isOwner(Obj()));
  EXPECT_FALSE(mine.attr("real").toIValue().isNone());
  EXPECT_TRUE(first.isOwner(mine.attr("real")));
}

TEST(Sessions, ObjsOfAnotherSessionOfTheSameInterpreterAreGoodArguments) {
  InterpreterManager manager(1);
  manager.registerModuleSource("tools", kTools);
  auto first = manager.acquireOne();
  auto second = manager.acquireOne();
  Obj sum = second.global("tools", "add")({first.fromIValue(2), second.fromIValue(3)});
  EXPECT_EQ(sum.toIValue().toInt(), 5);
  EXPECT_TRUE(second.isOwner(sum));
}

TEST(Sessions, OneThreadHasSessionsOfSeveralInterpreters) {
  constexpr int kInterpreters = 4;
  InterpreterManager manager(kInterpreters);
  manager.registerModuleSource("tools", kTools);
  std::vector<InterpreterSession> sessions;
  std::vector<Obj> adds;
  for (const Interpreter& interpreter : manager.allInstances()) {
    sessions.push_back(interpreter.acquireSession());
    adds.push_back(sessions.back().global("tools", "add"));
  }
  int64_t sum = 0;
  for (int i = 0; i < 100; ++i) sum = adds[i % kInterpreters]({sum, i}).toIValue().toInt();
  EXPECT_EQ(sum, 4950);
}

TEST(Sessions, ManyThreadsShareOneSession) {
  constexpr int kThreads = 8, kCalls = 300;
  InterpreterManager manager(1);
  manager.registerModuleSource("tools", kTools);
  auto I = manager.acquireOne();
  Obj more = I.global("tools", "counter").attr("more");
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kCalls; ++i) more({});
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(I.global("tools", "counter").attr("value").toIValue().toInt(), kThreads * kCalls);
}

TEST(Sessions, ThreadsThatHoldTwoSessionsCrosswiseDoNotWaitForEachOther) {
  constexpr int kRounds = 300;
  InterpreterManager manager(2);
  manager.registerModuleSource("tools", kTools);
  const auto work = [&](int mine) {
    for (int i = 0; i < kRounds; ++i) {
      auto first = manager.allInstances()[mine].acquireSession();
      Obj add = first.global("tools", "add");
      auto second = manager.allInstances()[1 - mine].acquireSession();
      Obj other = second.global("tools", "add");
      ASSERT_EQ(add({i, 1}).toIValue().toInt(), i + 1);
      ASSERT_EQ(other({i, 2}).toIValue().toInt(), i + 2);
    }
  };
  std::thread one(work, 0), two(work, 1);
  one.join();
  two.join();
}

TEST(Sessions, ASleepingSessionStarvesNobody) {
  InterpreterManager manager(1);
  auto held = manager.acquireOne();
  Obj kept = held.fromIValue(1);
  std::thread other([&] {
    auto I = manager.acquireOne();
    EXPECT_EQ(I.global("builtins", "len")({"four"}).toIValue().toInt(), 4);
  });
  other.join();
  EXPECT_EQ(kept.toIValue().toInt(), 1);
}

TEST(Sessions, LimitKeepsToTheFirstInterpreters) {
  InterpreterManager manager(3);
  manager.registerModuleSource("identity", "none = id(None)\n");
  manager.debugLimitInterpreters(1);
  const int64_t first =
      manager.allInstances()[0].acquireSession().global("identity", "none").toIValue().toInt();
  std::vector<InterpreterSession> sessions;
  for (int i = 0; i < 4; ++i) {
    sessions.push_back(manager.acquireOne());
    EXPECT_EQ(sessions.back().global("identity", "none").toIValue().toInt(), first);
  }
  expectError<InvalidArgument>([&] { manager.debugLimitInterpreters(4); }, {"limit is 4"});
  expectError<InvalidArgument>([&] { manager.debugLimitInterpreters(0); }, {"limit is 0"});
}

TEST(Sessions, RegisteredModulesAreFoundWhenImported) {
  InterpreterManager manager(2);
  EXPECT_EQ(manager.countRegisteredModuleSources(), 0u);
  manager.registerModuleSource("foo", "def add1(x): return x + 1\n");
  for (const Interpreter& interpreter : manager.allInstances()) {
    auto I = interpreter.acquireSession();
    EXPECT_EQ(I.global("foo", "add1")({2}).toIValue().toInt(), 3);
  }
  manager.registerModuleSource("bar", "import foo\nsix = foo.add1(5)\n");
  EXPECT_EQ(manager.acquireOne().global("bar", "six").toIValue().toInt(), 6);
  EXPECT_EQ(manager.countRegisteredModuleSources(), 2u);
}

TEST(Sessions, RegisteredModulesMayBeInPackages) {
  InterpreterManager manager(2);
  manager.registerModuleSource("ours", "from . import deep\nfrom .deep import value\n");
  manager.registerModuleSource("ours.deep", "from ours.deep.deeper import value\n");
  manager.registerModuleSource("ours.deep.deeper", "value = __name__\n");
  manager.registerModuleSource("nobodys.module", "value = __package__\n");
  manager.registerModuleSource("json.ours", "from . import dumps\nvalue = dumps([1])\n");
  for (const Interpreter& interpreter : manager.allInstances()) {
    auto I = interpreter.acquireSession();
    EXPECT_EQ(I.global("ours", "value").toIValue().toStringRef(), "ours.deep.deeper");
    EXPECT_EQ(I.global("nobodys.module", "value").toIValue().toStringRef(), "nobodys");
    EXPECT_EQ(I.global("json.ours", "value").toIValue().toStringRef(), "[1]");
    EXPECT_EQ(I.global("json", "loads")({"[2]"}).toIValue().toList()[0].get().toInt(), 2)
        << "the package that is installed";
  }
  auto I = manager.acquireOne();
  expectError<ModuleNotFoundError>([&] { I.global("ours.absent", "value"); }, {"ours.absent"});
  expectError<ModuleNotFoundError>([&] { I.global("nobody", "value"); }, {"nobody"});
  manager.registerModuleSource("ours.__main__", "from . import value\nprinted = __name__\n");
  Obj ran = I.global("runpy", "run_module")({"ours"});
  EXPECT_EQ(ran.attr("__getitem__")({"printed"}).toIValue().toStringRef(), "ours.__main__");
  EXPECT_EQ(ran.attr("__getitem__")({"value"}).toIValue().toStringRef(), "ours.deep.deeper");
  manager.registerModuleSource(
      "asks", "import importlib.util\nfound = importlib.util.find_spec(chr(0xdc80))\n");
  EXPECT_TRUE(I.global("asks", "found").toIValue().isNone()) << "a name that is no UTF-8";
}

TEST(Sessions, AMistakeInARegisteredModuleIsToldWithItsName) {
  InterpreterManager manager(1);
  manager.registerModuleSource("broken", "def f(:\n");
  auto I = manager.acquireOne();
  expectError<PythonException>([&] { I.global("broken", "f"); },
                               {"SyntaxError", "(<registered broken.py>, line 1)", "def f(:"});
}

TEST(Sessions, ModulesAreRegisteredWhileOthersImport) {
  constexpr int kModules = 50;
  InterpreterManager manager(2);
  std::thread writer([&] {
    for (int i = 0; i < kModules; ++i)
      manager.registerModuleSource("late" + std::to_string(i), "value = " + std::to_string(i));
  });
  for (int i = 0; i < kModules; ++i) {
    auto I = manager.acquireOne();
    while (manager.countRegisteredModuleSources() <= static_cast<std::size_t>(i))
      std::this_thread::yield();
    EXPECT_EQ(I.global(("late" + std::to_string(i)).c_str(), "value").toIValue().toInt(), i);
  }
  writer.join();
}

// What a class derived from the ancestor's session could do.
class WatchedSession : public InterpreterSession {
 public:
  WatchedSession(InterpreterSession&& session, bool& ended)
      : InterpreterSession(std::move(session)) {
    first = attachDeconstructorCallback([&ended] { ended = true; });
    second = attachDeconstructorCallback([] {});
  }
  bool first = false, second = true;
};

TEST(Sessions, ADerivedSessionIsToldOfItsEnd) {
  InterpreterManager manager(1);
  bool ended = false;
  {
    WatchedSession session(manager.acquireOne(), ended);
    EXPECT_TRUE(session.first);
    EXPECT_FALSE(session.second);
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace multipy::runtime
