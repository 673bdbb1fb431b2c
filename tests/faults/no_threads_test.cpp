// No thread can be started: pthread_create() fails, the n-th time or from then on. What needs the
// thread is undone and says so by a typed error; what can do without one does.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "child_runs.h"
#include "expect_error.h"
#include "failing_calls.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "multipy/runtime/stacks.h"

namespace multipy::runtime {
namespace {

using testing_support::ChildRun;
using testing_support::expectError;
using testing_support::Failing;
using testing_support::runInChild;
using testing_support::Times;

void expectToWork(InterpreterManager& manager) {
  for (const Interpreter& interpreter : manager.allInstances()) {
    const InterpreterSession I = interpreter.acquireSession();
    EXPECT_EQ(I.global("builtins", "len")({std::string("fine")}).toIValue().toInt(), 4);
  }
}

void expectSuccess(const ChildRun& run) { EXPECT_TRUE(run.exitedWith(0)); }

int outcome() { return testing::Test::HasFailure() ? 4 : 0; }

/// The number of calls that one more manager of three makes.
long callsOfAStart(InterpreterManager& other) {
  expectToWork(other);
  testing_support::failFrom(Failing::Threads, 1'000'000, Times::Once);
  InterpreterManager three(3);
  return testing_support::stopFailing();
}

void startWithout(long nth, Times times) {
  const std::size_t threads = testing_support::runningThreads();
  const std::size_t descriptors = testing_support::openDescriptors();
  testing_support::failFrom(Failing::Threads, nth, times);
  std::unique_ptr<InterpreterManager> three;
  try {
    three = std::make_unique<InterpreterManager>(3);
  } catch (const EnvironmentError& error) {
    const std::string text = error.what();
    for (const char* part : {"the threads of interpreter", "ulimit -u", "pids.max"})
      EXPECT_NE(text.find(part), text.npos) << text;
  }
  testing_support::stopFailing();
  if (three) expectToWork(*three);  // it was a thread that one can do without
  three.reset();
  EXPECT_TRUE(testing_support::threadsEndUntil(threads));
  EXPECT_LE(testing_support::openDescriptors(), descriptors);
}

TEST(NoThreads, StartingIsAnEnvironmentErrorAndIsUndone) {
  expectSuccess(runInChild([] {
    InterpreterManager other(1);
    const long all = callsOfAStart(other);
    EXPECT_GE(all, 6);  // two for each
    for (const Times times : {Times::Once, Times::FromThenOn}) {
      for (long nth = 1; nth <= all; ++nth) {
        startWithout(nth, times);
        expectToWork(other);
      }
    }
    InterpreterManager another(3);
    expectToWork(another);
    return outcome();
  }));
}

TEST(NoThreads, WithoutAnyNoInterpreterStarts) {
  expectSuccess(runInChild([] {
    testing_support::failFrom(Failing::Threads, 1, Times::FromThenOn);
    expectError<EnvironmentError>([] { InterpreterManager none(2); },
                                  {"the threads of interpreter", "Resource temporarily unavailable",
                                   "ulimit -u", "pids.max", "fewer interpreters"});
    testing_support::stopFailing();
    InterpreterManager manager(2);
    expectToWork(manager);
    return outcome();
  }));
}

TEST(NoThreads, ManagersEndWithoutMore) {
  expectSuccess(runInChild([] {
    const std::size_t threads = testing_support::runningThreads();
    auto manager = std::make_unique<InterpreterManager>(3);
    expectToWork(*manager);
    testing_support::failFrom(Failing::Threads, 1, Times::FromThenOn);
    manager.reset();
    testing_support::stopFailing();
    EXPECT_TRUE(testing_support::threadsEndUntil(threads));
    InterpreterManager another(3);
    expectToWork(another);
    return outcome();
  }));
}

constexpr const char* kThreads = R"(
import threading
def start():
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
)";

TEST(NoThreads, PythonsAreItsRuntimeError) {
  expectSuccess(runInChild([] {
    InterpreterManager manager(2);
    manager.registerModuleSource("threads", kThreads);
    const InterpreterSession I = manager.allInstances()[0].acquireSession();
    const Obj start = I.global("threads", "start");
    start({});
    for (int time = 0; time < 3; ++time) {
      testing_support::failFrom(Failing::Threads, 1, Times::Once);
      expectError<PythonException>([&] { start({}); }, {"RuntimeError", "can't start new thread"});
      testing_support::stopFailing();
      start({});
      expectToWork(manager);
    }
    return outcome();
  }));
}

TEST(NoThreads, StacksAreDumpedWithoutOne) {
  expectSuccess(runInChild([] {
    InterpreterManager manager(2);
    testing_support::failFrom(Failing::Threads, 1, Times::FromThenOn);
    const auto stacks = dumpStacks();
    testing_support::stopFailing();
    EXPECT_EQ(stacks.size(), 2u);
    expectToWork(manager);
    EXPECT_EQ(dumpStacks().size(), 2u);
    return outcome();
  }));
}

TEST(NoThreads, ThreadsOfTheProgramEnterWithoutMore) {
  expectSuccess(runInChild([] {
    InterpreterManager manager(2);
    testing_support::failFrom(Failing::Threads, 1, Times::FromThenOn);
    expectToWork(manager);
    manager.registerModuleSource("late", "def f(): return 3\n");
    EXPECT_EQ(manager.acquireOne().global("late", "f")({}).toIValue().toInt(), 3);
    testing_support::stopFailing();
    return outcome();
  }));
}

}  // namespace
}  // namespace multipy::runtime
