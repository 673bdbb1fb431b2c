// Children of os.fork(), made in one interpreter while other threads are at work: none may
// wait for a lock that one of those had.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

// fork_and(work): children do some work and end. One that waits for ten seconds is killed.
constexpr const char* kForks = R"(
import ctypes, os, signal, threading, time
terminals = []  # stay open: the child of one that was closed would be sent a SIGHUP
def forkpty():
    child, terminal = os.forkpty()
    if child:
        terminals.append(terminal)
    return child
def fork_and(work, fork=os.fork, forks=40):
    for _ in range(forks):
        child = fork()
        if child == 0:
            failed = 1
            try:
                work()
                failed = 0
            finally:
                os._exit(failed)
        end = time.monotonic() + 10
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise TimeoutError('a child waited')
            time.sleep(0.001)
        status = os.waitstatus_to_exitcode(ended[1])
        assert status == 0, status
class CallsOf:
    """Calls a function of C's again and again in a thread, without the GIL."""
    def __init__(self, function, argument):
        self._ask = lambda: ctypes.CDLL(None).lfind(
            argument, argument, ctypes.byref(ctypes.c_size_t(1_000_000)), 0, function)
    def __enter__(self):
        self._stop = False
        self._thread = threading.Thread(target=self._call)
        self._thread.start()
    def _call(self):
        while not self._stop:
            self._ask()
    def __exit__(self, *_):
        self._stop = True
        self._thread.join()
)";

void run(InterpreterManager& manager, const std::string& function) {
  auto I = manager.allInstances()[0].acquireSession();
  EXPECT_NO_THROW(I.global("forks", function.c_str())({}));
}

/// The same while the second interpreter does "look" again and again.
void runBeside(InterpreterManager& manager, const std::string& function) {
  std::atomic<bool> stop{false};
  std::atomic<bool> looking{false};
  std::thread other([&] {
    auto I = manager.allInstances()[1].acquireSession();
    Obj look = I.global("looks", "look");
    for (; !stop; looking = true) look({});
  });
  while (!looking) std::this_thread::yield();
  run(manager, function);
  stop = true;
  other.join();
}

TEST(Forks, GetVariablesWhileAnotherThreadDoes) {
  InterpreterManagerOptions options;
  options.interpreters.environmentVariables.emplace()["WHOSE"] = "own";
  InterpreterManager manager(1, options);
  manager.registerModuleSource("forks", std::string(kForks) + R"(
def look():
    for _ in range(200):
        assert ctypes.CDLL(None).getenv(b'WHOSE')
        os.environ['MINE'] = 'child'
def look_in_children():
    with CallsOf(ctypes.CDLL(None).getenv, b'WHOSE'):
        fork_and(look)
)");
  run(manager, "look_in_children");
}

TEST(Forks, MakeThreadKeysWhileAnotherThreadDoes) {
  InterpreterManager manager(1);
  manager.registerModuleSource("forks", std::string(kForks) + R"(
def make_key():
    key = ctypes.c_uint()
    for _ in range(200):
        assert ctypes.CDLL(None).pthread_key_create(ctypes.byref(key), None) == 0
        assert ctypes.CDLL(None).pthread_key_delete(key) == 0
def make_in_children(fork=os.fork):
    with CallsOf(ctypes.CDLL(None).pthread_key_delete, b'no key'):
        fork_and(make_key, fork)
def make_in_children_with_terminals():
    make_in_children(forkpty)
)");
  run(manager, "make_in_children");
  run(manager, "make_in_children_with_terminals");
}

TEST(Forks, StartThreadsWhileOtherThreadsEnd) {
  InterpreterManager manager(1);
  manager.registerModuleSource("forks", std::string(kForks) + R"(
going_on = True
def start():
    for _ in range(20):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
def go_on():
    while going_on:
        start()
def start_in_children():
    global going_on
    busy = [threading.Thread(target=go_on) for _ in range(4)]
    for thread in busy:
        thread.start()
    try:
        fork_and(start)
    finally:
        going_on = False
        for thread in busy:
            thread.join()
)");
  run(manager, "start_in_children");
}

TEST(Forks, SetSignalHandlersWhileOtherInterpretersDo) {
  InterpreterManager manager(2);
  manager.registerModuleSource("forks", std::string(kForks) + R"(
def set_handler():
    for _ in range(200):
        ctypes.CDLL(None).signal(signal.SIGUSR1, None)
def set_in_children():
    fork_and(set_handler)
)");
  manager.registerModuleSource("looks", R"(
import ctypes
def look():
    for _ in range(1000):
        ctypes.CDLL(None).signal(10, None)
)");
  runBeside(manager, "set_in_children");
}

// Those of libraries, which a child registers, too, and so does its own child.
TEST(Forks, OfForksRunTheHandlersOfLibraries) {
  InterpreterManager manager(1);
  manager.registerModuleSource("forks", std::string(kForks) + R"(
ran = []
handler = ctypes.PYFUNCTYPE(None)
before, after, after_in_child = (handler(lambda what=what: ran.append(what)) for what in 'pac')
c = ctypes.PyDLL(None)
register = c['__register_atfork']
def fork_again():
    assert register(before, after, after_in_child, None) == 0
    del ran[:]
    fork_and(lambda: ran == ['p', 'p', 'c', 'c'] or os._exit(2), forks=1)
    assert ran == ['p', 'p', 'a', 'a'], ran
def fork_twice():
    assert register(before, after, after_in_child, None) == 0
    fork_and(fork_again, forks=3)
    assert ran == ['p', 'a'] * 3, ran
)");
  run(manager, "fork_twice");
}

// An import asks for registered modules first, whatever other interpreters import.
TEST(Forks, ImportWhileOtherInterpretersDo) {
  InterpreterManager manager(2);
  manager.registerModuleSource("forks", std::string(kForks) + R"(
def import_absent():
    for number in range(200):
        try:
            __import__(f'absent{number}')
        except ModuleNotFoundError:
            pass
def import_in_children():
    fork_and(import_absent)
)");
  manager.registerModuleSource("looks", R"(
from _multipy_host import module_source  # what an import asks, and nothing else
def look():
    for number in range(100_000):
        module_source('absent')
)");
  runBeside(manager, "import_in_children");
}

TEST(Forks, LoadLibrariesWhileOtherInterpretersDo) {
  InterpreterManager manager(2);
  manager.registerModuleSource("forks", std::string(kForks) + R"(
def load():
    for _ in range(20):
        try:
            ctypes.CDLL('libof_no_such_name.so')
        except OSError:
            pass
    import _lsprof  # one that lies in a file
def load_in_children():
    fork_and(load)
)");
  manager.registerModuleSource("looks", R"(
import ctypes
def look():
    for number in range(100):
        try:
            ctypes.CDLL(f'libof_no_such_name{number}.so')
        except OSError:
            pass
)");
  runBeside(manager, "load_in_children");
}

// Where its interpreter has torch the child asks for operators, among others.
TEST(Forks, AskForOperatorsWhileOtherInterpretersDo) {
  InterpreterManager manager(2);
  const std::string look = R"(
import torch
def look():
    for _ in range(200):
        torch._C._dispatch_has_kernel_for_dispatch_key('aten::mm', 'CPU')
        torch._C._jit_get_schemas_for_operator('aten::mm')
)";
  manager.registerModuleSource("forks", std::string(kForks) + look + R"(
def look_in_children():
    fork_and(look)
)");
  manager.registerModuleSource("looks", look);
  runBeside(manager, "look_in_children");
}

// A library that is there once has a lock, which C code takes with the GIL: in plain Python no
// thread can have it when another one is in os.fork().
const std::string kLocks = std::string(kForks) + R"(
library = ctypes.PyDLL(')" MULTIPY_TEST_SHARED_LOCK R"(')
def look():
    library.hold_lock(100)
)";
constexpr const char* kLooks = R"(
import ctypes
library = ctypes.PyDLL(')" MULTIPY_TEST_SHARED_LOCK R"(')
def look():
    for _ in range(20):
        library.hold_lock(2000)
)";

TEST(Forks, TakeALockThatIsHeldWithTheGilOfAnotherInterpreter) {
  InterpreterManager manager(2);
  manager.registerModuleSource("forks", kLocks + "def look_in_children(): fork_and(look)");
  manager.registerModuleSource("looks", kLooks);
  runBeside(manager, "look_in_children");
}

TEST(Forks, OfSeveralInterpretersAtOnceTakeTheirTurns) {
  InterpreterManager manager(3);
  manager.registerModuleSource("forks", kLocks + R"(
def look_in_children():
    threads = [threading.Thread(target=fork_and, args=(look,)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
)");
  std::vector<std::thread> threads;
  for (const Interpreter& interpreter : manager.allInstances())
    threads.emplace_back([&interpreter] {
      auto I = interpreter.acquireSession();
      EXPECT_NO_THROW(I.global("forks", "look_in_children")({}));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Forks, AreNotHeldUpForEverByAThreadThatKeepsItsGil) {
  InterpreterManager manager(2);
  manager.registerModuleSource("forks", std::string(kForks) + "def fork(): fork_and(int, forks=1)");
  const auto I = manager.allInstances()[1].acquireSession();
  const auto inside = I.enter();
  std::thread([&] { run(manager, "fork"); }).join();
}

TEST(Forks, GoOnWhileInterpretersComeAndGo) {
  InterpreterManager manager(1);
  manager.registerModuleSource("forks", std::string(kForks) + "def fork(): fork_and(int)");
  std::atomic<bool> stop{false};
  std::thread others([&] {
    while (!stop) InterpreterManager another(2);
  });
  for (int time = 0; time < 5; ++time) run(manager, "fork");
  stop = true;
  others.join();
}

}  // namespace
}  // namespace multipy::runtime
