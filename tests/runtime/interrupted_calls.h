// Calls that are interrupted as the pool does it, and Python code that blocks in every way.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "base/interpreter_id.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "process/wake_signal.h"
#include "runtime/interpreter/gil.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {

using namespace std::chrono_literals;  // of the tests, too
using Clock = std::chrono::steady_clock;

inline constexpr const char* kWork = R"(
import asyncio, concurrent.futures, os, queue, select, socket, subprocess, threading, time

from multipy import Interrupted

def loop():
    while True: pass

def sleep(): time.sleep(3600)

def select_socket():
    one, other = socket.socketpair()
    select.select([one], [], [])

def poll_socket():
    one, other = socket.socketpair()
    poll = select.poll()
    poll.register(one, select.POLLIN)
    poll.poll()

def receive():
    one, other = socket.socketpair()
    one.recv(1)

def receive_until():
    one, other = socket.socketpair()
    one.settimeout(3600)
    one.recv(1)

def read_pipe():
    os.read(os.pipe()[0], 1)

def read_file():
    open(os.pipe()[0], 'rb').read()

def lock(kind=threading.Lock, **wait):
    taken = kind()
    holder = threading.Thread(target=taken.acquire)
    holder.start()
    holder.join()
    taken.acquire(**wait)

def lock_until(): lock(timeout=3600)

def recursive_lock(): lock(threading.RLock)

def condition():
    changed = threading.Condition()
    with changed: changed.wait()

def event(): threading.Event().wait(3600)

def semaphore(): threading.Semaphore(0).acquire()

def get(): queue.Queue().get()

def get_simple(): queue.SimpleQueue().get()

def join():
    stop = threading.Event()
    joined = threading.Thread(target=stop.wait)
    joined.start()
    try:
        joined.join()
    finally:
        stop.set()

def result(): concurrent.futures.Future().result()

def run_asyncio(): asyncio.run(asyncio.sleep(3600))

class Popen(subprocess.Popen):
    pid_of_last = None
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        Popen.pid_of_last = self.pid
subprocess.Popen = Popen

def has_ended():
    try: os.kill(Popen.pid_of_last, 0)
    except ProcessLookupError: return True
    return False

def program(): subprocess.run(['sleep', '3600'])

def output_of_program(): subprocess.run(['sleep', '3600'], capture_output=True)

def import_looping(): import looping

def torch_loop():
    import torch
    x = torch.ones(8)
    while True: x = x + 1

def numpy_loop():
    import numpy
    while True: numpy.ones(8).sum()

# --- code around it

log = []

def catch_exceptions():
    while True:
        try: time.sleep(3600)
        except Exception as error: log.append(repr(error))

# (A loop that `try` begins with is not protected by it in CPython 3.11, when it jumps back.)
def clean_up():
    try:
        turns = 0
        while True: turns += 1
    finally:
        time.sleep(0.05)
        log.append('cleaned up')

def catch_it():
    try: time.sleep(3600)
    except Interrupted: return 'caught'

def swallow_first():
    try: time.sleep(3600)
    except Interrupted: time.sleep(3600)

def evaluate(text): return str(eval(text))

def load(module): __import__(module)

def count_to(n):
    total = 0
    for i in range(n): total += 1
    return total

def nap(seconds):
    time.sleep(seconds)
    return 'slept'

def ask_hook(what):
    print(what)
    return 'asked'

class Other:
    """A thread that Python has started, of which the interrupt is none."""
    def __init__(self):
        self.turns, self.error, self.stop = 0, None, False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
    def run(self):
        try:
            while not self.stop:
                self.turns += 1
                time.sleep(0.001)
        except BaseException as error:
            self.error = error

def start_threads():
    both_run = threading.Barrier(3)
    def inner():
        try:
            both_run.wait()
            time.sleep(3600)
        except Interrupted: log.append('inner')
    def outer():
        child = threading.Thread(target=inner)
        child.start()
        try:
            both_run.wait()
            while True: pass
        except Interrupted:
            child.join()
            log.append('outer')
    threading.Thread(target=outer).start()
    both_run.wait()

def start_other():
    global other
    other = Other()

def run_threads():
    start_threads()
    time.sleep(3600)

def run_other():
    start_other()
    time.sleep(3600)

def end_other():
    before = other.turns
    time.sleep(0.02)
    other.stop = True
    other.thread.join()
    return other.error is None and other.turns > before
)";

inline constexpr const char* kType = "multipy.Interrupted";
// Of an interrupted call, until it has ended: on a busy machine, too.
inline constexpr Clock::duration kPatience = 30s;

/// One call, as the pool knows it while it may be interrupted. Made and ended by the thread that
/// makes the call.
class Call {
 public:
  explicit Call(InterpreterCore& core) : core_(core), state_(core.threadState()) {}
  ~Call() { end(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// True: an interrupt came too late. (Without a failure: no operation is under way then.)
  bool end() {
    const Entered inside(core_, "end a call");
    ended_ = true;
    return inside.python().takeInterruptBack(state_);
  }

  // --- other threads
  /// False: it has ended.
  bool interrupt() {
    for (;; std::this_thread::sleep_for(1ms)) {
      const Entered inside(core_, "interrupt a call");
      if (ended_) return false;
      if (inside.python().interrupt(state_)) return true;
      // Not now: the call's thread has a lock of the import system's, as while it imports numpy.
    }
  }
  bool isPending() const {
    const Entered inside(core_, "look at a call");
    return inside.python().interruptIsPending(state_);
  }
  void wake() { EXPECT_NE(thread_.wake(), process::Woken::NoSignal); }

 private:
  InterpreterCore& core_;
  void* const state_;
  const process::WakeableThread thread_;
  bool ended_ = false;  // changed with the GIL
};

/// Interrupts a call after a while, and wakes its thread until it is told that the call has ended.
class Interrupter {
 public:
  explicit Interrupter(Call& call, Clock::duration after = 100ms)
      : thread_([this, &call, after] { run(call, after); }) {}
  ~Interrupter() { ended(); }
  /// How long the call has gone on after that.
  Clock::duration ended() {
    const auto now = Clock::now();
    ended_ = true;
    if (thread_.joinable()) thread_.join();
    return now - interrupted_;
  }

 private:
  void run(Call& call, Clock::duration after) {
    const auto at = Clock::now() + after;
    while (!ended_ && Clock::now() < at) std::this_thread::sleep_for(1ms);
    interrupted_ = Clock::now();
    call.interrupt();
    while (!ended_) {
      call.wake();
      std::this_thread::sleep_for(2ms);
    }
  }

  std::atomic<bool> ended_{false};
  Clock::time_point interrupted_;  // read when the thread has ended
  std::thread thread_;
};

class Interrupts : public testing::Test {
 protected:
  explicit Interrupts(int n = 1, const InterpreterManagerOptions& options = {})
      : manager(n, options), session(sessionOf(0)) {}

  InterpreterSession sessionOf(int index) {
    if (index == 0) {
      manager.registerModuleSource("work", kWork);
      manager.registerModuleSource("looping", "while True: pass\n");
    }
    return manager.allInstances()[index].acquireSession();
  }
  InterpreterCore& core(int index = 0) {
    return *InterpreterCore::inSlot(InterpreterId(manager.allInstances()[index].slot()));
  }
  Obj function(const char* name) { return session.global("work", name); }

  ReplicatedObj movable(const char* name) {
    return manager.createMovable(function(name), &session);
  }

  /// What a call of it, interrupted after that time, has raised, or returned.
  std::string interrupted(const char* name, Clock::duration after = 100ms) {
    const Obj callable = function(name);
    Call call(core());
    Interrupter interrupter(call, after);
    std::string outcome;
    try {
      outcome = callable({}).toIValue().toStringRef();
    } catch (const PythonException& error) {
      outcome = error.type();
    }
    EXPECT_LT(interrupter.ended(), kPatience);
    EXPECT_FALSE(call.end()) << "it has not been raised";
    return outcome;
  }
  void expectNextCallsAreUntouched() {
    EXPECT_EQ(function("count_to")({1000}).toIValue().toInt(), 1000);
    EXPECT_EQ(function("nap")({0.01}).toIValue().toStringRef(), "slept");
  }
  std::string log() {
    return session.global("work", "log").attr("__str__")({}).toIValue().toStringRef();
  }

  InterpreterManager manager;
  InterpreterSession session;
};

}  // namespace multipy::runtime
