// fork() from each place: from C++, from inside an interpreter, from Python, while other threads
// start interpreters, end them, or import. The child may exec or end; what it asks of multipy is
// refused by a typed error, and the parent does not notice.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "child_runs.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

using testing_support::runInChild;

int outcome() { return testing::Test::HasFailure() ? 4 : 0; }

void expectToWork(InterpreterManager& manager) {
  for (const Interpreter& interpreter : manager.allInstances()) {
    const InterpreterSession I = interpreter.acquireSession();
    EXPECT_EQ(I.global("json", "dumps")({7}).toIValue().toStringRef(), "7");
  }
}

template <typename Work>
bool isRefused(Work&& work) {
  try {
    work();
  } catch (const HandleError& error) {
    return std::string(error.what()).find("fork") != std::string::npos;
  }
  return false;
}

constexpr int kOfItsOwnInterpreter = 1 | 2 | 4;

/// In the child: all that it can ask for. What was accepted; 0: nothing.
int askForEverything(InterpreterManager& manager, const InterpreterSession& session, Obj object,
                     ReplicatedObj replicated) {
  int accepted = 0;
  accepted |= isRefused([&] { object({1}); }) ? 0 : 1;
  accepted |= isRefused([&] { session.global("math", "pi"); }) ? 0 : 2;
  accepted |= isRefused([&] { auto inside = session.enter(); }) ? 0 : 4;
  accepted |= isRefused([&] { replicated({1}); }) ? 0 : 8;
  accepted |= isRefused([&] { manager.acquireOne(); }) ? 0 : 16;
  accepted |= isRefused([&] { InterpreterManager another(1); }) ? 0 : 32;
  return accepted;
}

/// What a child has ended with. One that waits is ended by its alarm.
testing::AssertionResult endsWell(pid_t child) {
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child)
    return testing::AssertionFailure() << "no child";
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << (WIFEXITED(status) ? "status " : "signal ")
         << (WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/// A child that does `work`, which gives its status, and one that becomes another program.
void forkTwice(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(work());
  }
  EXPECT_TRUE(endsWell(child));
  const pid_t other = ::fork();
  if (other == 0) {
    ::alarm(20);
    ::execl("/bin/true", "true", nullptr);
    ::_exit(127);
  }
  EXPECT_TRUE(endsWell(other));
}

struct Living {
  InterpreterManager manager{2};
  std::optional<InterpreterSession> session;
  Obj abs;
  std::optional<ReplicatedObj> replicated;

  Living() {
    manager.registerModuleSource("tools", R"(
import os, threading
def f(x): return x
def fork(): return os.fork()
def fork_in_thread():
    pids = []
    def fork():
        child = os.fork()
        if child == 0:
            os._exit(0)
        pids.append(child)
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    return os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1])
def fork_and_exec():
    child = os.fork()
    if child == 0:
        os.execv('/bin/true', ['true'])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
)");
    session.emplace(manager.acquireOne());
    abs = session->global("builtins", "abs");
    replicated.emplace(manager.createMovable(session->global("tools", "f"), &*session));
    EXPECT_EQ((*replicated)({5}).toInt(), 5);
  }
  int ask() { return askForEverything(manager, *session, abs, *replicated); }
};

void expectSuccess(const std::function<void()>& work) {
  const auto run = runInChild(
      [&] {
        work();
        return outcome();
      },
      110);
  EXPECT_TRUE(run.exitedWith(0));
}

TEST(ForkPlaces, OutsideOfInterpreters) {
  expectSuccess([] {
    Living living;
    for (int time = 0; time < 5; ++time) forkTwice([&] { return living.ask(); });
    expectToWork(living.manager);
  });
}

// With the GIL of an interpreter the child goes on in that one, as the child of os.fork() does,
// until it leaves.
TEST(ForkPlaces, OnAThreadThatIsInside) {
  expectSuccess([] {
    Living living;
    for (int time = 0; time < 5; ++time) {
      std::thread([&] {
        pid_t child = 0;
        {
          const auto inside = living.session->enter();
          child = ::fork();
          if (child == 0) {
            ::alarm(20);
            if (living.ask() != kOfItsOwnInterpreter) ::_exit(100);
          }
        }
        if (child == 0) ::_exit(living.ask());
        EXPECT_TRUE(endsWell(child));
      }).join();
    }
    expectToWork(living.manager);
  });
}

// The child comes back from the call like its parent, and cannot ask what has come of it.
TEST(ForkPlaces, InACallOfPython) {
  expectSuccess([] {
    Living living;
    for (int time = 0; time < 5; ++time) {
      const Obj forked = living.session->global("tools", "fork")({});
      int64_t child = 0;
      if (!isRefused([&] { child = forked.toIValue().toInt(); })) {
        EXPECT_TRUE(endsWell(static_cast<pid_t>(child)));
      } else {
        ::alarm(20);
        ::_exit(living.ask());
      }
      EXPECT_EQ(living.session->global("tools", "fork_in_thread")({}).toIValue().toInt(), 0);
      EXPECT_EQ(living.session->global("tools", "fork_and_exec")({}).toIValue().toInt(), 0);
    }
    expectToWork(living.manager);
  });
}

/// Forks from C++ and from Python while another thread does `work` time and again.
void forkBeside(Living& living, const std::function<void()>& work) {
  std::atomic<bool> stop{false};
  std::atomic<int> done{0};
  std::thread other([&] {
    for (; !stop; ++done) work();
  });
  int forks = 0;
  while (forks < 30 || done < 3) {
    forkTwice([&] { return living.ask(); });
    EXPECT_EQ(living.session->global("tools", "fork_and_exec")({}).toIValue().toInt(), 0);
    ++forks;
    std::this_thread::sleep_for(std::chrono::milliseconds(forks % 7));
  }
  stop = true;
  other.join();
  expectToWork(living.manager);
}

TEST(ForkPlaces, WhileManagersStartAndEnd) {
  expectSuccess([] {
    Living living;
    forkBeside(living, [] {
      InterpreterManager another(2);
      expectToWork(another);
    });
  });
}

TEST(ForkPlaces, WhileManagersEnd) {
  expectSuccess([] {
    Living living;
    for (int time = 0; time < 10; ++time) {
      auto manager = std::make_unique<InterpreterManager>(2);
      expectToWork(*manager);
      std::thread ends([&] { manager.reset(); });
      for (int fork = 0; fork < 3; ++fork) forkTwice([&] { return living.ask(); });
      ends.join();
    }
    expectToWork(living.manager);
  });
}

// As a program does that starts others all the time while its pool recycles interpreters.
TEST(ForkPlaces, AgainAndAgainWhileInterpretersAreUnloaded) {
  expectSuccess([] {
    std::atomic<bool> done{false};
    std::vector<std::thread> forking;
    for (int thread = 0; thread < 8; ++thread)
      forking.emplace_back([&] {
        while (!done) {
          const pid_t child = ::fork();
          if (child == 0) ::_exit(0);
          EXPECT_TRUE(endsWell(child));
        }
      });
    for (int time = 0; time < 40; ++time) InterpreterManager(2);
    done = true;
    for (std::thread& thread : forking) thread.join();
  });
}

TEST(ForkPlaces, WhileModulesAreImported) {
  expectSuccess([] {
    Living living;
    forkBeside(living, [&] {
      InterpreterManager another(1);
      const InterpreterSession I = another.acquireOne();
      for (const char* module : {"decimal", "ctypes", "asyncio", "unittest.mock", "http.client"})
        I.global("importlib", "import_module")({std::string(module)});
    });
  });
}

TEST(ForkPlaces, WhileTorchIsImported) {
  expectSuccess([] {
    Living living;
    std::atomic<bool> done{false};
    std::thread imports([&] {
      living.manager.allInstances()[1].acquireSession().global("torch", "ones");
      done = true;
    });
    while (!done) forkTwice([&] { return living.ask(); });
    imports.join();
    expectToWork(living.manager);
  });
}

// The child goes on to the end of main() as its parent would.
TEST(ForkPlaces, TheChildDestroysWhatItHas) {
  expectSuccess([] {
    auto living = std::make_unique<Living>();
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      living.reset();
      ::_exit(0);
    }
    EXPECT_TRUE(endsWell(child));
    expectToWork(living->manager);
  });
}

}  // namespace
}  // namespace multipy::runtime
