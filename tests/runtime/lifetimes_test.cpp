// What outlives what: handles after their session, manager or process has gone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

using testing_support::expectError;

std::size_t copiesMapped() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("libinterpreter") != std::string::npos;
  return count;
}

std::size_t runningThreads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(Lifetimes, ObjAfterItsSession) {
  InterpreterManager manager(1);
  std::optional<InterpreterSession> session(manager.acquireOne());
  Obj seven = session->fromIValue(7);
  session.reset();
  expectError<HandleError>([&] { seven.toIValue(); },
                           {"convert an Obj", "InterpreterSession", "ended"});
  expectError<HandleError>([&] { seven({}); }, {"ended"});
  expectError<HandleError>([&] { seven.hasattr("x"); }, {"ended"});
  auto other = manager.acquireOne();
  expectError<HandleError>([&] { other.global("builtins", "len")({seven}); },
                           {"argument", "ended"});
}

TEST(Lifetimes, EverythingAfterItsManager) {
  std::optional<InterpreterManager> manager(std::in_place, 2);
  manager->registerModuleSource("tools", "def f(x): return x\n");
  auto session = manager->acquireOne();
  Obj f = session.global("tools", "f");
  ReplicatedObj replicated = manager->createMovable(f, &session);
  EXPECT_EQ(replicated({5}).toInt(), 5);
  manager.reset();

  expectError<HandleError>([&] { f({1}); }, {"call an Obj", "InterpreterManager", "destroyed"});
  expectError<HandleError>([&] { session.global("math", "pi"); }, {"shut down"});
  expectError<HandleError>([&] { auto inside = session.enter(); }, {"shut down"});
  expectError<HandleError>([&] { replicated({1}); }, {"call a ReplicatedObj", "shut down"});
  expectError<HandleError>([&] { replicated.acquireSession(); }, {"acquire a session"});
  expectError<HandleError>([&] { static_cast<void>(replicated.hasattr("x")); }, {"shut down"});
  expectError<HandleError>([&] { replicated.toObj(&session); }, {"shut down"});
  replicated.unload();
  replicated = ReplicatedObj();
}

TEST(Lifetimes, ObjOfAnotherInterpreter) {
  InterpreterManager manager(2);
  auto A = manager.allInstances()[0].acquireSession();
  auto B = manager.allInstances()[1].acquireSession();
  Obj mine = A.fromIValue("text");
  expectError<HandleError>([&] { B.global("builtins", "len")({mine}); },
                           {"argument", "another interpreter"});
  expectError<HandleError>(
      [&] { manager.createMovable(mine, &B); },
      {"Cannot create movable from an object that lives in different session"});
  expectError<InvalidArgument>([&] { manager.createMovable(mine, nullptr); }, {"null"});
  EXPECT_EQ(A.global("builtins", "len")({mine}).toIValue().toInt(), 4);
}

TEST(Lifetimes, ManagersComeAndGoAndLeaveNoMapping) {
  { InterpreterManager first(1); }
  const std::size_t before = copiesMapped();
  for (int i = 0; i < 5; ++i) {
    InterpreterManager manager(2);
    auto I = manager.acquireOne();
    EXPECT_EQ(I.global("json", "loads")({"[1, 2]"}).attr("__len__")({}).toIValue().toInt(), 2);
    EXPECT_GT(copiesMapped(), before);
  }
  EXPECT_EQ(copiesMapped(), before);
}

TEST(Lifetimes, TwoManagersAtOnce) {
  InterpreterManager first(1);
  {
    InterpreterManager second(1);
    auto A = first.acquireOne();
    auto B = second.acquireOne();
    Obj mine = A.fromIValue(1);
    expectError<HandleError>([&] { B.global("builtins", "abs")({mine}); }, {"another interpreter"});
  }
  EXPECT_EQ(first.acquireOne().fromIValue(1).toIValue().toInt(), 1);
}

TEST(Lifetimes, DestructionWaitsForOperationsAndRefusesLaterOnes) {
  std::optional<InterpreterManager> manager(std::in_place, 1);
  manager->registerModuleSource("work", R"(
import os, time
def work(pipe):
    os.write(pipe, b'b')
    time.sleep(0.3)
    os.write(pipe, b'e')
)");
  auto session = manager->acquireOne();
  Obj work = session.global("work", "work");
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_NONBLOCK), 0);
  std::atomic<int> refused{0};
  std::thread worker([&] { work({pipe[1]}); });
  char said = 0;
  while (::read(pipe[0], &said, 1) != 1) std::this_thread::yield();
  ASSERT_EQ(said, 'b');
  std::vector<std::thread> callers;
  std::atomic<int> called{0};
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      for (;;) {
        try {
          session.fromIValue(1).toIValue();
          ++called;
        } catch (const HandleError&) {
          ++refused;
          return;
        }
      }
    });
  while (called < 10) std::this_thread::yield();
  manager.reset();
  EXPECT_EQ(::read(pipe[0], &said, 1), 1);
  EXPECT_EQ(said, 'e');
  worker.join();
  for (const int end : pipe) ::close(end);
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(refused, 3);
}

TEST(Lifetimes, DestroyedByAThreadThatIsInside) {
  auto manager = std::make_unique<InterpreterManager>(2);
  auto session = manager->acquireOne();
  Obj one = session.fromIValue(1);
  {
    auto inside = session.enter();
    manager.reset();  // would wait for this scope
    EXPECT_EQ(one.toIValue().toInt(), 1);
  }
  expectError<HandleError>([&] { one.toIValue(); }, {"shut down"});
}

TEST(Lifetimes, AtexitRunsAndThreadsOfPythonAreWaitedFor) {
  char path[] = "/tmp/multipy-atexit-XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_GE(file, 0);
  ::close(file);
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("leaving", R"(
import atexit, threading, time
def prepare(path):
    def last(text):
        with open(path, "a") as out:
            out.write(text)
    atexit.register(last, "atexit ")
    # Daemon would be the default: it is inherited from the calling thread, and
    # threads that Python did not make are daemons to it.
    threading.Thread(target=lambda: (time.sleep(0.1), last("thread ")), daemon=False).start()
)");
    manager.acquireOne().global("leaving", "prepare")({std::string(path)});
  }
  std::ifstream written(path);
  std::string all((std::istreambuf_iterator<char>(written)), {});
  EXPECT_EQ(all, "thread atexit ");
  ::unlink(path);
}

TEST(Lifetimes, DaemonThreadsOfPythonDoNotCrashTheEnd) {
  { InterpreterManager first(1); }  // what the process keeps of the first one
  const std::size_t before = copiesMapped();
  const std::size_t threads = runningThreads();
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  for (const char* what : {"spin", "sleep"}) {
    InterpreterManager manager(1);
    manager.registerModuleSource("daemons", R"(
import os, threading
def spin(file, begun):
    begun.set()
    while True: pass
def sleep(file, begun):
    begun.set()
    os.read(file, 1)
def begin(what, file):
    begun = threading.Event()
    threading.Thread(target=globals()[what], args=(file, begun), daemon=True).start()
    begun.wait()
)");
    manager.acquireOne().global("daemons", "begin")({what, pipe[0]});
  }
  // The one that wanted the GIL has ended and all of it is unloaded; the libraries
  // of the one that slept have stayed.
  const std::size_t left = copiesMapped() - before;
  EXPECT_GT(left, 0u);
  ::close(pipe[1]);  // the sleeper wakes up, and ends as well
  while (runningThreads() > threads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::close(pipe[0]);
  {
    InterpreterManager manager(1);
    EXPECT_GE(copiesMapped() - before, 2 * left);
  }
}

// It ends in Python code, once the operator is done: torch's C++ functions could not be unwound.
TEST(Lifetimes, ADaemonThreadInAnOperatorEndsAsWell) {
  InterpreterManager(1).acquireOne().global("torch", "ones")({2});  // the process keeps what it has
  const std::size_t before = copiesMapped();
  for (const char* what : {"short", "long"}) {
    InterpreterManager manager(1);
    manager.registerModuleSource("daemons", R"(
import threading, torch
def short(begun):
    while True:
        torch.tensor([1.0, 2.0])
        begun.set()
def long(begun):
    tensor = torch.ones(1000, 1000)
    begun.set()
    while True: tensor @ tensor
def begin(what):
    begun = threading.Event()
    threading.Thread(target=globals()[what], args=(begun,), daemon=True).start()
    begun.wait()
)");
    manager.acquireOne().global("daemons", "begin")({what});
  }
  EXPECT_EQ(copiesMapped(), before);
}

// The hook is called by C++ functions, which are never left: what they may run stays.
TEST(Lifetimes, DaemonThreadsUnderCppFunctionsStay) {
  InterpreterManager(1).acquireOne().global("torch", "ones")({2});  // the process keeps what it has
  const std::size_t before = copiesMapped();
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("daemons", R"(
import threading, torch
def run(begun):
    def spin(gradient):
        begun.set()
        while True: pass
    parameter = torch.ones(2, requires_grad=True)
    parameter.register_hook(spin)
    parameter.sum().backward()
def begin():
    begun = threading.Event()
    threading.Thread(target=run, args=(begun,), daemon=True).start()
    begun.wait()
)");
    manager.acquireOne().global("daemons", "begin")({});
  }
  EXPECT_GT(copiesMapped(), before);
  InterpreterManager another(1);
  EXPECT_EQ(another.acquireOne().global("operator", "add")({1, 1}).toIValue().toInt(), 2);
}

TEST(Lifetimes, StandAloneInterpreter) {
  std::optional<Interpreter> interpreter(std::in_place, std::make_shared<NoopEnvironment>());
  auto session = interpreter->acquireSession();
  Obj pi = session.global("math", "pi");
  EXPECT_NEAR(pi.toIValue().toDouble(), 3.14159, 1e-4);
  expectError<HandleError>([&] { session.createMovable(pi); }, {"stands alone"});
  Interpreter moved = std::move(*interpreter);
  expectError<HandleError>([&] { interpreter->acquireSession(); }, {"moved from"});
  interpreter.reset();
  EXPECT_NEAR(pi.toIValue().toDouble(), 3.14159, 1e-4);
}

TEST(Lifetimes, AForkedChildIsRefusedAndCanLeave) {
  InterpreterManager manager(1);
  auto session = manager.acquireOne();
  Obj one = session.fromIValue(1);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int code = 1;
    try {
      one.toIValue();
    } catch (const HandleError& error) {
      code = std::string(error.what()).find("fork") != std::string::npos ? 0 : 2;
    }
    try {
      auto mine = std::make_unique<InterpreterManager>(1);
      code |= 4;
    } catch (const HandleError&) {
    }
    one = Obj();
    manager.~InterpreterManager();  // as a program that returns from main would
    ::_exit(code);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(one.toIValue().toInt(), 1);
}

// OpenBLAS joins its threads in a destructor; the child has none of them.
TEST(Lifetimes, AForkedChildEndsByExitAfterLibrariesWithThreads) {
  InterpreterManager manager(2);
  for (const Interpreter& interpreter : manager.allInstances())
    interpreter.acquireSession().global("numpy", "ones")({300}).attr("sum")({});
  std::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(30);
    std::exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(manager.acquireOne().global("builtins", "abs")({-2}).toIValue().toInt(), 2);
}

TEST(Lifetimes, ThreadLocalDestructorsMayUseInterpreters) {
  struct Last {
    ReplicatedObj object;
    std::atomic<std::int64_t>* result = nullptr;
    ~Last() {
      if (result) *result = object({-5}).toInt();
    }
  };
  InterpreterManager manager(2);
  ReplicatedObj absolute = [&] {
    auto session = manager.acquireOne();
    return manager.createMovable(session.global("builtins", "abs"), &session);
  }();
  for (int i = 0; i < 20; ++i) {
    std::atomic<std::int64_t> result = 0;
    std::thread([&] {
      thread_local Last last;  // made before what this thread has of interpreters
      EXPECT_EQ(absolute({-3}).toInt(), 3);
      last.object = absolute;
      last.result = &result;
    }).join();
    EXPECT_EQ(result, 5);
  }
}

// Destroyed after main has returned and this thread's own state has gone.
std::unique_ptr<InterpreterManager> atProcessEnd;

TEST(Lifetimes, AManagerMayLiveUntilTheProcessEnds) {
  atProcessEnd = std::make_unique<InterpreterManager>(1);
  EXPECT_EQ(atProcessEnd->acquireOne().fromIValue(1).toIValue().toInt(), 1);
}

}  // namespace
}  // namespace multipy::runtime
