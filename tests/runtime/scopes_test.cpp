// Whose GIL a thread holds: scopes, nesting, and entering one interpreter from
// inside another.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "base/interpreter_id.h"
#include "multipy/runtime/interpreter_manager.h"
#include "process/ownership.h"

namespace multipy::runtime {
namespace {

using process::Ownership;

constexpr const char* kTools = R"(
import threading
log = []
def note(x):
    log.append(x)
    return len(log)
def spin(n):
    total = 0
    for i in range(n):
        total += i
    return total
)";

class Scopes : public testing::Test {
 protected:
  Scopes() : manager(2), A(session(0)), B(session(1)) {}
  InterpreterSession session(int which) {
    if (which == 0) manager.registerModuleSource("tools", kTools);
    return manager.allInstances()[which].acquireSession();
  }
  InterpreterId slot(int which) { return InterpreterId(manager.allInstances()[which].slot()); }

  InterpreterManager manager;
  InterpreterSession A, B;
};

TEST_F(Scopes, SayWhereTheThreadIs) {
  EXPECT_EQ(Ownership::entered(), InterpreterId::none());
  {
    auto inA = A.enter();
    EXPECT_EQ(Ownership::entered(), slot(0));
    {
      auto inB = B.enter();
      EXPECT_EQ(Ownership::entered(), slot(1));
      {
        auto inAgain = A.enter();
        EXPECT_EQ(Ownership::entered(), slot(0));
        EXPECT_EQ(A.fromIValue(1).toIValue().toInt(), 1);
      }
      EXPECT_EQ(Ownership::entered(), slot(1));
      EXPECT_EQ(B.fromIValue(2).toIValue().toInt(), 2);
    }
    EXPECT_EQ(Ownership::entered(), slot(0));
    EXPECT_EQ(A.fromIValue(3).toIValue().toInt(), 3);
  }
  EXPECT_EQ(Ownership::entered(), InterpreterId::none());
}

TEST_F(Scopes, KeepOthersOut) {
  Obj note = A.global("tools", "note");
  std::atomic<bool> done{false};
  std::thread other;
  {
    auto inside = A.enter();
    other = std::thread([&] {
      note({1});
      done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(done);
  }
  other.join();
  EXPECT_TRUE(done);
}

TEST_F(Scopes, EnteringAnotherGivesTheFirstUp) {
  Obj note = A.global("tools", "note");
  auto inA = A.enter();
  auto inB = B.enter();
  // Would hang if this thread still held A's GIL.
  std::thread([&] { EXPECT_EQ(note({1}).toIValue().toInt(), 1); }).join();
}

TEST_F(Scopes, AnOperationOnAnotherInsideAScopeGivesItUpForThatTime) {
  Obj sleep = B.global("time", "sleep");
  Obj note = A.global("tools", "note");
  auto inA = A.enter();
  std::atomic<bool> noted{false};
  std::thread other([&] {
    note({1});
    noted = true;
  });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!noted && std::chrono::steady_clock::now() < deadline) sleep({0.01});
  EXPECT_TRUE(noted);
  other.join();
}

TEST_F(Scopes, CrosswiseScopesOfTwoThreadsDoNotWaitForEachOther) {
  constexpr int kRounds = 500;
  const auto work = [&](InterpreterSession& outer, InterpreterSession& inner) {
    Obj outerSpin = outer.global("tools", "spin"), innerSpin = inner.global("tools", "spin");
    for (int i = 0; i < kRounds; ++i) {
      auto first = outer.enter();
      ASSERT_EQ(outerSpin({10}).toIValue().toInt(), 45);
      auto second = inner.enter();
      ASSERT_EQ(innerSpin({10}).toIValue().toInt(), 45);
      ASSERT_EQ(outerSpin({4}).toIValue().toInt(), 6);
    }
  };
  std::thread one([&] { work(A, B); }), two([&] { work(B, A); }), three([&] { work(A, B); });
  one.join();
  two.join();
  three.join();
}

TEST_F(Scopes, OutliveTheirSession) {
  std::optional<InterpreterSession> session(manager.acquireOne());
  auto inside = session->enter();
  session.reset();
  EXPECT_EQ(A.fromIValue(1).toIValue().toInt(), 1);
}

TEST_F(Scopes, ThreadStatesOfEndedThreadsAreCleared) {
  // CPython links all thread states of an interpreter; count them through frames.
  Obj frames = A.global("sys", "_current_frames");
  const auto count = [&] { return frames({}).attr("__len__")({}).toIValue().toInt(); };
  const auto before = count();
  for (int i = 0; i < 50; ++i) std::thread([&] { A.fromIValue(i); }).join();
  EXPECT_LE(count(), before + 1);
}

TEST_F(Scopes, ThreadsThatPythonMakesAreInTheirInterpreter) {
  manager.registerModuleSource("threads", R"(
import threading
def in_thread(f, x):
    result = []
    t = threading.Thread(target=lambda: result.append(f(x)))
    t.start()
    t.join()
    return result[0]
)");
  Obj inThread = A.global("threads", "in_thread");
  EXPECT_EQ(inThread({A.global("tools", "spin"), A.fromIValue(10)}).toIValue().toInt(), 45);
}

}  // namespace
}  // namespace multipy::runtime
