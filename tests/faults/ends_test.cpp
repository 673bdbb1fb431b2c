// How a process ends while interpreters are at work: by signals, by what Python code calls, by
// exit(). It ends as it was told to, and does not wait; and sys.exit() is an exception here.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "child_runs.h"
#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

using testing_support::ChildRun;
using testing_support::expectError;
using testing_support::runInChild;

constexpr int kDone = 17;

constexpr const char* kBusy = R"(
import os, sys, threading, time
def spin():
    while True: pass
def sleep(): time.sleep(1000)
def print_lines():
    while True: len(repr(list(range(1000))))
def thread(): threading.Thread(target=spin, daemon=True).start()
def leave(): sys.exit(5)
def leave_with_text(): sys.exit('for this reason')
def leave_in_thread():
    thread = threading.Thread(target=sys.exit)
    thread.start()
    thread.join()
def end_now(): os._exit(23)
def abort(): os.abort()
def terminate(): os.kill(os.getpid(), 15)
)";

/// All interpreters at work in some way each, until the process ends.
struct Busy {
  std::unique_ptr<InterpreterManager> manager = std::make_unique<InterpreterManager>(3);
  std::vector<std::thread> threads;

  Busy() {
    manager->registerModuleSource("busy", kBusy);
    std::atomic<std::size_t> begun{0};
    const char* const how[] = {"spin", "sleep", "print_lines"};
    for (std::size_t i = 0; i < 3; ++i) {
      threads.emplace_back([this, i, &begun, name = how[i]] {
        const InterpreterSession I = manager->allInstances()[i].acquireSession();
        I.global("busy", "thread")({});
        const Obj work = I.global("busy", name);
        ++begun;
        try {
          work({});
        } catch (const Error&) {
        }
      });
    }
    while (begun < 3) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
};

bool endedBy(const ChildRun& run, int number) {
  return WIFSIGNALED(run.status) && WTERMSIG(run.status) == number;
}

// ------------------------------------------------------------ signals

TEST(Ends, BySigtermWhileAllAreBusy) {
  const ChildRun run = runInChild([] {
    const Busy busy;
    ::kill(::getpid(), SIGTERM);
    for (;;) ::pause();
    return 0;
  });
  EXPECT_TRUE(endedBy(run, SIGTERM)) << run.ending() << "\n" << run.text;
}

TEST(Ends, BySigtermThatPythonSends) {
  const ChildRun run = runInChild([] {
    const Busy busy;
    InterpreterManager other(1);
    other.registerModuleSource("busy", kBusy);
    other.acquireOne().global("busy", "terminate")({});
    for (;;) ::pause();
    return 0;
  });
  EXPECT_TRUE(endedBy(run, SIGTERM)) << run.ending() << "\n" << run.text;
}

TEST(Ends, ByTheProgramsOwnHandler) {
  const ChildRun run = runInChild([] {
    ::signal(SIGTERM, [](int) { ::_exit(kDone); });
    const Busy busy;
    ::kill(::getpid(), SIGTERM);
    for (;;) ::pause();
    return 0;
  });
  EXPECT_TRUE(run.exitedWith(kDone));
}

// As a server does it: the signal is blocked everywhere and one thread waits for it.
TEST(Ends, BySigwait) {
  const ChildRun run = runInChild([] {
    sigset_t ends;
    ::sigemptyset(&ends);
    ::sigaddset(&ends, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    const Busy busy;
    ::kill(::getpid(), SIGTERM);
    int number = 0;
    ::sigwait(&ends, &number);
    ::_exit(number == SIGTERM ? kDone : 1);
    return 0;
  });
  EXPECT_TRUE(run.exitedWith(kDone));
}

// ------------------------------------------------------------ what Python calls

TEST(Ends, SysExitIsAnException) {
  const ChildRun run = runInChild([] {
    InterpreterManager manager(2);
    manager.registerModuleSource("busy", kBusy);
    for (const Interpreter& interpreter : manager.allInstances()) {
      const InterpreterSession I = interpreter.acquireSession();
      for (int time = 0; time < 2; ++time) {
        expectError<PythonException>([&] { I.global("busy", "leave")({}); }, {"SystemExit", "5"});
        expectError<PythonException>([&] { I.global("busy", "leave_with_text")({}); },
                                     {"SystemExit", "for this reason"});
        I.global("busy", "leave_in_thread")({});
      }
      EXPECT_EQ(I.global("builtins", "abs")({-5}).toIValue().toInt(), 5);
    }
    return testing::Test::HasFailure() ? 4 : kDone;
  });
  EXPECT_TRUE(run.exitedWith(kDone));
}

TEST(Ends, ByOsExit) {
  const ChildRun run = runInChild([] {
    const Busy busy;
    InterpreterManager other(1);
    other.registerModuleSource("busy", kBusy);
    other.acquireOne().global("busy", "end_now")({});
    return 0;
  });
  EXPECT_TRUE(run.exitedWith(23));
}

TEST(Ends, ByOsAbort) {
  const ChildRun run = runInChild([] {
    const Busy busy;
    InterpreterManager other(1);
    other.registerModuleSource("busy", kBusy);
    other.acquireOne().global("busy", "abort")({});
    return 0;
  });
  EXPECT_TRUE(endedBy(run, SIGABRT)) << run.ending();
}

// ------------------------------------------------------------ what the program calls

// Static objects are destroyed while the interpreters go on.
TEST(Ends, ByExitWhileAllAreBusy) {
  for (int time = 0; time < 5; ++time) {
    const ChildRun run = runInChild([] {
      [[maybe_unused]] auto* const busy = new Busy;
      std::exit(kDone);
      return 0;
    });
    EXPECT_TRUE(run.exitedWith(kDone));
  }
}

TEST(Ends, ByQuickExitWhileAllAreBusy) {
  const ChildRun run = runInChild([] {
    [[maybe_unused]] auto* const busy = new Busy;
    std::quick_exit(kDone);
    return 0;
  });
  EXPECT_TRUE(run.exitedWith(kDone));
}

std::unique_ptr<InterpreterManager>& atExit() {
  static std::unique_ptr<InterpreterManager> manager;
  return manager;
}

TEST(Ends, WithAStaticManager) {
  const ChildRun run = runInChild([] {
    atExit() = std::make_unique<InterpreterManager>(2);
    atExit()->acquireOne().global("json", "dumps")({1});
    std::exit(kDone);
    return 0;
  });
  EXPECT_TRUE(run.exitedWith(kDone));
}

// Calls that are under way come to their ends; later ones are refused.
TEST(Ends, AManagerIsDestroyedWhileCallsRun) {
  const ChildRun run = runInChild([] {
    for (int time = 0; time < 10; ++time) {
      auto manager = std::make_unique<InterpreterManager>(3);
      manager->registerModuleSource("work", "def f(x): return sum(range(2000)) + x\n");
      InterpreterSession session = manager->acquireOne();
      ReplicatedObj f = manager->createMovable(session.global("work", "f"), &session);
      std::atomic<int> calls{0}, refused{0};
      std::vector<std::thread> callers;
      for (int t = 0; t < 6; ++t) {
        callers.emplace_back([&] {
          for (;;) {
            try {
              if (f({1}).toInt() != 1'999'001) ::_exit(1);
              ++calls;
            } catch (const HandleError&) {
              ++refused;
              return;
            }
          }
        });
      }
      while (calls < 20) std::this_thread::yield();
      manager.reset();
      for (std::thread& caller : callers) caller.join();
      EXPECT_EQ(refused, 6);
    }
    return testing::Test::HasFailure() ? 4 : kDone;
  });
  EXPECT_TRUE(run.exitedWith(kDone));
}

}  // namespace
}  // namespace multipy::runtime
