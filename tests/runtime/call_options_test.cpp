// Calls with a deadline, a stop token, a priority; bounds of the line; what ends a call that runs.
#include "multipy/runtime/call_options.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;
using Clock = CallOptions::Clock;

constexpr const char* kModule = R"(
import ctypes
import importlib.util
import sys
import time

inside = 0
order = []
ended_by = None

def spin(seconds):
    global inside
    inside += 1
    try:
        until(time.monotonic() + seconds)
    finally:
        inside -= 1
    return seconds

def until(end):  # (A loop in `try` jumps back outside of it in CPython 3.12 and later.)
    while time.monotonic() < end:
        pass

def sleep(seconds):
    time.sleep(seconds)
    return seconds

def keep_gil(seconds):
    global inside
    inside += 1
    ctypes.PyDLL(None).usleep(int(seconds * 1e6))
    inside -= 1
    return seconds

def note(what):
    order.append(what)

def noted():
    return ','.join(order)

def spin_and_tell(seconds):
    global ended_by
    try:
        spin(seconds)
    except BaseException as error:
        ended_by = type(error).__name__
        raise

def returns_all_the_same():
    try:
        spin(3600)
    except BaseException:
        return 'after all'

def raises_another():
    try:
        spin(3600)
    except BaseException:
        raise ValueError('in its stead')

def import_for_ever(which):
    while True:
        try:
            __import__(f'no_such_module_{which}')
        except ImportError:
            pass

def add(a, b=0):
    return a + b

def use_torch():
    import torch
    return torch.ones(2).sum().item()

class Lingering:
    """Finder of torch: its import is not over at once when its code has been executed."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(cls)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_linger(module):
            execute(module)
            spin(0.1)

        spec.loader.exec_module = execute_and_linger
        return spec

def use_torch_whose_import_lingers():
    sys.meta_path.insert(0, Lingering)
    return use_torch()
)";

CallOptions within(Clock::duration patience) {
  CallOptions options;
  options.deadline = CallOptions::in(patience);
  return options;
}

CallOptions aloneWithin(Clock::duration patience) {
  CallOptions options = within(patience);
  options.alone = true;
  return options;
}

class CallOptionsTest : public testing::Test {
 protected:
  explicit CallOptionsTest(std::size_t n = 1, PoolOptions pool = {}) : manager(n, with(pool)) {
    manager.registerModuleSource("limited", kModule);
  }
  static InterpreterManagerOptions with(const PoolOptions& pool) {
    InterpreterManagerOptions options;
    options.pool = pool;
    options.pool.replacement.afterInterrupt = false;  // what its modules have noted is looked at
    return options;
  }
  ReplicatedObj function(const char* name) {
    auto session = manager.acquireOne();
    return manager.createMovable(session.global("limited", name), &session);
  }
  /// A call that has the interpreter, and its GIL, until stop() is called.
  class Busy {
   public:
    Busy(CallOptionsTest& test)
        : spin_(test.function("spin")), thread_([this] {
            CallOptions options;
            options.stop = source_.get_token();
            EXPECT_THROW(static_cast<void>(spin_.call({3600.0}, options)), CancelledError);
          }) {
      while (
          test.manager.allInstances()[0].acquireSession().global("limited", "inside").toIValue() !=
          1)
        std::this_thread::yield();
    }
    void stop() {
      source_.request_stop();
      if (thread_.joinable()) thread_.join();
    }
    ~Busy() { stop(); }

   private:
    ReplicatedObj spin_;
    std::stop_source source_;
    std::jthread thread_;
  };

  InterpreterManager manager;
};

// ------------------------------------------------------- waiting

TEST_F(CallOptionsTest, ACallWithinItsLimitsIsLikeAnother) {
  const ReplicatedObj add = function("add");
  EXPECT_EQ(add.call({1}, {}).toInt(), 1);
  EXPECT_EQ(add.call({1}, within(1h), {{"b", 2}}).toInt(), 3);
  std::stop_source source;
  CallOptions options = within(1h);
  options.stop = source.get_token();
  options.priority = CallPriority::High;
  EXPECT_EQ(add.call({1, 4}, options).toInt(), 5);
}

TEST_F(CallOptionsTest, AWaitEndsAtItsDeadlineAndSaysWhatThePoolDoes) {
  const ReplicatedObj add = function("add");
  Busy busy(*this);
  const auto deadline = CallOptions::in(50ms);
  try {
    CallOptions options = aloneWithin(1h);
    options.deadline = deadline;
    static_cast<void>(add.call({1}, options));
    FAIL() << "it was called";
  } catch (const DeadlineExceededError& error) {
    EXPECT_GE(Clock::now(), deadline);
    EXPECT_FALSE(error.hasBegun());
    EXPECT_EQ(error.figures().interpreters, 1u);
    EXPECT_EQ(error.figures().busy, 1u);
    ASSERT_TRUE(error.figures().longest);
    EXPECT_EQ(error.figures().longest->model, "spin");
    const std::string text = error.what();
    for (const char* part :
         {"cannot call add: its deadline has passed after", "1 interpreters, 1 busy",
          "the longest running call: spin, for ", "in spin"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST_F(CallOptionsTest, ADeadlineThatHasPassedOrAStopThatWasRequestedCallsNothing) {
  const ReplicatedObj note = function("note"), noted = function("noted");
  EXPECT_THROW(static_cast<void>(note.call({"late"}, within(-1s))), DeadlineExceededError);
  std::stop_source source;
  source.request_stop();
  CallOptions options;
  options.stop = source.get_token();
  EXPECT_THROW(static_cast<void>(note.call({"stopped"}, options)), CancelledError);
  EXPECT_EQ(noted({}).toStringRef(), "");
  EXPECT_THROW(static_cast<void>(manager.acquireOne(within(-1s))), DeadlineExceededError);
  EXPECT_THROW(static_cast<void>(note.acquireSession(options)), CancelledError);
}

TEST_F(CallOptionsTest, ACallThatIsRefusedIsNoneOfThoseThatItTellsOf) {
  const ReplicatedObj add = function("add");
  try {
    static_cast<void>(add.call({1, 2}, within(-1s)));
    FAIL();
  } catch (const DeadlineExceededError& error) {
    EXPECT_EQ(std::string(error.what()).find("the longest running call"), std::string::npos)
        << error.what();
  }
}

TEST_F(CallOptionsTest, APriorityThatIsNoneIsRefused) {
  const ReplicatedObj note = function("note");
  for (const int value : {3, -1, 77}) {
    CallOptions options;
    options.priority = static_cast<CallPriority>(value);
    EXPECT_THROW(static_cast<void>(note.call({"x"}, options)), InvalidArgument);
    EXPECT_THROW(static_cast<void>(note.callAsync({"x"}, options)), InvalidArgument);
    EXPECT_THROW(note.acquireSession(options), InvalidArgument);
  }
}

TEST_F(CallOptionsTest, AStopEndsAWaitAtOnce) {
  const ReplicatedObj add = function("add");
  Busy busy(*this);
  std::stop_source source;
  std::atomic<bool> cancelled = false;
  std::jthread waiting([&] {
    CallOptions options = aloneWithin(1h);
    options.stop = source.get_token();
    try {
      static_cast<void>(add.call({1}, options));
    } catch (const CancelledError& error) {
      cancelled = !error.hasBegun();
    }
  });
  std::this_thread::sleep_for(20ms);
  source.request_stop();
  waiting.join();
  EXPECT_TRUE(cancelled);
}

TEST_F(CallOptionsTest, TheMoreImportantGoFirst) {
  const ReplicatedObj note = function("note"), noted = function("noted");
  static_cast<void>(note);
  Busy busy(*this);
  std::vector<std::jthread> threads;
  const auto wait = [&](const char* what, CallPriority priority) {
    threads.emplace_back([&note, what, priority] {
      CallOptions options = aloneWithin(1h);
      options.priority = priority;
      static_cast<void>(note.call({what}, options));
    });
    std::this_thread::sleep_for(20ms);
  };
  wait("low", CallPriority::Low);
  wait("normal", CallPriority::Normal);
  wait("high", CallPriority::High);
  busy.stop();
  threads.clear();
  EXPECT_EQ(noted({}).toStringRef(), "high,normal,low");
}

TEST_F(CallOptionsTest, ASessionIsWaitedForWithOptionsOnly) {
  Busy busy(*this);
  EXPECT_NO_THROW(manager.acquireOne());
  EXPECT_THROW(static_cast<void>(manager.acquireOne(within(20ms))), DeadlineExceededError);
  busy.stop();
  const auto session = manager.acquireOne(within(1h));
  EXPECT_EQ(session.global("limited", "inside").toIValue().toInt(), 0);
}

TEST_F(CallOptionsTest, WhatHasBeenGivenUpLeavesNothingBehind) {
  const ReplicatedObj add = function("add");
  {
    Busy busy(*this);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 30; ++i)
          EXPECT_THROW(static_cast<void>(
                           add.call({1}, aloneWithin(std::chrono::microseconds(300 * (i % 7))))),
                       DeadlineExceededError);
      });
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(add({i}).toInt(), i);
  EXPECT_EQ(add.call({1}, within(1h)).toInt(), 1);
}

// ------------------------------------------------------- bounds

PoolOptions bounded(std::size_t all, std::size_t low = SIZE_MAX) {
  PoolOptions options;
  options.mostWaiting = all;
  options.mostWaitingOf[static_cast<std::size_t>(CallPriority::Low)] = low;
  return options;
}

class BoundedLine : public CallOptionsTest {
 protected:
  BoundedLine() : CallOptionsTest(1, bounded(2, 1)) {}
};

TEST_F(BoundedLine, RefusesMoreThanItsBoundsAndNothingElse) {
  const ReplicatedObj add = function("add");
  std::atomic<int> made = 0;
  {
    Busy busy(*this);
    std::vector<std::jthread> threads;
    CallOptions low = aloneWithin(1h);
    low.priority = CallPriority::Low;
    const auto wait = [&](const CallOptions& options) {
      threads.emplace_back(
          [&, options] { made += static_cast<int>(add.call({1}, options).toInt()); });
      std::this_thread::sleep_for(20ms);
    };
    wait(low);
    EXPECT_THROW(static_cast<void>(add.call({1}, low)), QueueFullError) << "one of low priority";
    wait(aloneWithin(1h));
    EXPECT_THROW(static_cast<void>(add.call({1}, aloneWithin(1h))), QueueFullError);
    EXPECT_EQ(made, 0);
    busy.stop();
  }
  EXPECT_EQ(made, 2);
  EXPECT_EQ(add({1}).toInt(), 1);
}

class NoLine : public CallOptionsTest {
 protected:
  NoLine() : CallOptionsTest(1, bounded(0)) {}
};

/// Whether a call without options is refused since the line is full; else it is made.
bool isRefused(const ReplicatedObj& add) {
  try {
    EXPECT_EQ(add({1}).toInt(), 1);
    return false;
  } catch (const QueueFullError& error) {
    EXPECT_NE(std::string(error.what()).find("PoolOptions::mostWaiting"), std::string::npos);
    return true;
  }
}

TEST_F(NoLine, ABoundOfNoneLetsOnlyThoseInThatNeedNotWait) {
  const ReplicatedObj add = function("add");
  EXPECT_FALSE(isRefused(add));
  const ReplicatedObj keep = function("keep_gil");
  // A call finds the GIL taken, or comes before or after that one.
  bool refused = false;
  while (!refused) {
    std::jthread busy([&] { keep({0.05}); });
    for (int i = 0; i < 20 && !refused; ++i) {
      refused = isRefused(add);
      std::this_thread::sleep_for(1ms);
    }
  }
  EXPECT_FALSE(isRefused(add));
}

// ------------------------------------------------------- calls that run

TEST_F(CallOptionsTest, ARunningCallIsInterruptedAtItsDeadline) {
  for (const char* name : {"spin_and_tell", "sleep"}) {
    const ReplicatedObj endless = function(name);
    try {
      static_cast<void>(endless.call({3600.0}, within(30ms)));
      FAIL() << name << " returned";
    } catch (const DeadlineExceededError& error) {
      EXPECT_TRUE(error.hasBegun());
      EXPECT_NE(std::string(error.what()).find("multipy.Interrupted"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(manager.acquireOne().global("limited", "ended_by").toIValue().toStringRef(),
            "Interrupted");
}

TEST_F(CallOptionsTest, AStopInterruptsARunningCall) {
  const ReplicatedObj sleep = function("sleep");
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(30ms);
    source.request_stop();
  });
  CallOptions options;
  options.stop = source.get_token();
  try {
    static_cast<void>(sleep.call({3600.0}, options));
    FAIL();
  } catch (const CancelledError& error) {
    EXPECT_TRUE(error.hasBegun());
  }
}

TEST_F(CallOptionsTest, OnlyTheWaitIsLimitedIfTheProgramWantsIt) {
  const ReplicatedObj spin = function("spin");
  CallOptions options = within(10ms);
  options.interrupt = false;
  EXPECT_EQ(spin.call({0.05}, options).toDouble(), 0.05);
}

TEST_F(CallOptionsTest, AResultThatTheCodeReturnsAllTheSameIsTheResult) {
  EXPECT_EQ(function("returns_all_the_same").call({}, within(20ms)).toStringRef(), "after all");
}

TEST_F(CallOptionsTest, WhatTheCodeRaisesInsteadIsNamed) {
  try {
    static_cast<void>(function("raises_another").call({}, within(20ms)));
    FAIL();
  } catch (const DeadlineExceededError& error) {
    EXPECT_NE(std::string(error.what()).find("ValueError"), std::string::npos) << error.what();
  }
}

TEST_F(CallOptionsTest, AnExceptionOfItsOwnStaysWhatItIs) {
  const ReplicatedObj add = function("add");
  EXPECT_THROW(static_cast<void>(add.call({1, 2, 3}, within(1h))), PythonException);
}

/// Neither while torch is executed, nor until the import system has made it known.
TEST_F(CallOptionsTest, ADeadlineDuringTorchsImportLeavesAnInterpreterThatHasTorch) {
  const ReplicatedObj useAfterLingering = function("use_torch_whose_import_lingers");
  try {
    EXPECT_EQ(useAfterLingering.call({}, within(50ms)).toDouble(), 2.0);
  } catch (
      const DeadlineExceededError&) {  // it may have ended before it could be interrupted again
  }
  EXPECT_EQ(manager.allInstances()[0].whyBroken(), "");
  EXPECT_EQ(function("use_torch").call({}, within(1h)).toDouble(), 2.0);
}

/// The locks of imports are taken and given back by Python code: an interrupt in between would
/// leave them taken, and no module could be imported any more.
TEST_F(CallOptionsTest, AnInterruptLeavesNoLockOfImportsTaken) {
  const ReplicatedObj import_for_ever = function("import_for_ever");
  std::atomic<int> interrupted = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 100; ++i) try {
            static_cast<void>(import_for_ever.call({t}, within(5ms)));
          } catch (const DeadlineExceededError& error) {
            interrupted += error.hasBegun();
          }
      });
  }
  EXPECT_GT(interrupted, 10);
  EXPECT_EQ(manager.acquireOne().global("json.tool", "__name__").toIValue().toStringRef(),
            "json.tool");
}

/// Deadlines at about the time that a call takes: each call returns or is ended, and the next one
/// on this thread and interpreter has nothing of it.
TEST_F(CallOptionsTest, AnInterruptNeverHitsTheNextCall) {
  const ReplicatedObj spin = function("spin"), add = function("add");
  int ended = 0, returned = 0;
  for (int i = 0; i < 300; ++i) {
    try {
      static_cast<void>(spin.call({0.01}, within(std::chrono::microseconds(2000 + 40 * i))));
      ++returned;
    } catch (const DeadlineExceededError&) {
      ++ended;
    }
    ASSERT_EQ(add({i}).toInt(), i);
  }
  EXPECT_EQ(ended + returned, 300);
  EXPECT_GT(ended, 0);
  EXPECT_GT(returned, 0);
}

class TwoInterpreters : public CallOptionsTest {
 protected:
  TwoInterpreters() : CallOptionsTest(2) {}
};

TEST_F(TwoInterpreters, ManyThreadsWithDeadlinesAndStopsEachHaveOneOutcome) {
  const ReplicatedObj spin = function("spin");
  std::atomic<int> returned = 0, late = 0, cancelled = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 100; ++i) {
          CallOptions options = within(std::chrono::microseconds(200 + 37 * ((i * 7 + t) % 60)));
          options.priority = static_cast<CallPriority>(i % 3);
          std::stop_source source;
          options.stop = source.get_token();
          std::jthread stopper;
          if (i % 4 == 0)
            stopper = std::jthread([&] {
              std::this_thread::sleep_for(300us);
              source.request_stop();
            });
          try {
            static_cast<void>(spin.call({0.0003}, options));
            ++returned;
          } catch (const DeadlineExceededError&) {
            ++late;
          } catch (const CancelledError&) {
            ++cancelled;
          }
        }
      });
  }
  EXPECT_EQ(returned + late + cancelled, 800);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(spin({0.0}).toDouble(), 0.0);
}

}  // namespace
}  // namespace multipy::runtime
