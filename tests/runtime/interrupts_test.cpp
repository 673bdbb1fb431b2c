// multipy.Interrupted in one thread of one interpreter: where it is raised, and that no other
// thread and no later call gets it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "interrupted_calls.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

// --- where it is raised

class InterruptedCall : public Interrupts, public testing::WithParamInterface<const char*> {};

TEST_P(InterruptedCall, EndsAndTouchesNothingElse) {
  // Not in the middle of that, which can be done once.
  if (GetParam() == std::string("torch_loop")) function("load")({"torch"});
  function("start_other")({});
  EXPECT_EQ(interrupted(GetParam()), kType);
  expectNextCallsAreUntouched();
  EXPECT_EQ(interrupted(GetParam()), kType) << "a second time";
  EXPECT_TRUE(function("end_other")({}).toIValue().toBool());
}

INSTANTIATE_TEST_SUITE_P(Of, InterruptedCall,
                         testing::Values("loop", "sleep", "select_socket", "poll_socket", "receive",
                                         "receive_until", "read_pipe", "read_file", "lock",
                                         "lock_until", "recursive_lock", "condition", "event",
                                         "semaphore", "get", "get_simple", "join", "result",
                                         "run_asyncio", "import_looping", "torch_loop",
                                         "numpy_loop"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(Interrupts, OfAProgramThatIsWaitedForEndTheProgram) {
  for (const char* name : {"program", "output_of_program"}) {
    // (Not while subprocess starts it: a program of which it does not know yet goes on in plain
    // Python, too.)
    EXPECT_EQ(interrupted(name, 1s), kType);
    EXPECT_TRUE(function("has_ended")({}).toIValue().toBool()) << name;
  }
}

// --- what code around it can do

TEST_F(Interrupts, AreNoExceptionsOfWhichCodeIsNotAware) {
  EXPECT_EQ(interrupted("catch_exceptions"), kType);
  EXPECT_EQ(log(), "[]");
}

TEST_F(Interrupts, LetFinallyRun) {
  EXPECT_EQ(interrupted("clean_up"), kType);
  EXPECT_EQ(log(), "['cleaned up']");
}

TEST_F(Interrupts, CanBeCaught) {
  EXPECT_EQ(interrupted("catch_it"), "caught");
  expectNextCallsAreUntouched();
}

TEST_F(Interrupts, CanBeAskedForAgain) {
  const Obj callable = function("swallow_first");
  Call call(core());
  std::atomic<bool> ended{false};
  std::thread interrupter([&] {
    while (!ended) {
      call.interrupt();
      call.wake();
      std::this_thread::sleep_for(20ms);
    }
  });
  EXPECT_THROW(callable({}), PythonException);
  ended = true;
  interrupter.join();
}

TEST_F(Interrupts, HaveATypeThatCodeCanImport) {
  const Obj evaluate = function("evaluate");
  const auto text = [&](const char* expression) {
    return evaluate({expression}).toIValue().toStringRef();
  };
  EXPECT_EQ(text("Interrupted.__bases__"), "(<class 'BaseException'>,)");
  EXPECT_EQ(text("Interrupted"), "<class 'multipy.Interrupted'>");
  EXPECT_EQ(text("__import__('multipy').Interrupted is Interrupted"), "True");
  EXPECT_EQ(text("__import__('multipy').__doc__[:4]"), "What");
}

TEST_F(Interrupts, AreInAPackageMultipyThatThereIs) {
  InterpreterManager registered(1);
  registered.registerModuleSource("multipy", "name = 'registered'");
  registered.registerModuleSource("multipy.part", "from multipy import Interrupted, name");
  const auto in = registered.acquireOne();
  EXPECT_EQ(in.global("multipy.part", "name").toIValue().toStringRef(), "registered");
  EXPECT_EQ(in.global("multipy.part", "Interrupted").attr("__name__").toIValue().toStringRef(),
            "Interrupted");
}

TEST_F(Interrupts, AreInAPackageMultipyWithPartsAlone) {
  InterpreterManager registered(1);
  registered.registerModuleSource("multipy.part", "from multipy import Interrupted");
  const auto in = registered.acquireOne();
  EXPECT_EQ(in.global("multipy.part", "Interrupted").attr("__name__").toIValue().toStringRef(),
            "Interrupted");
}

// --- whom it does not hit

TEST_F(Interrupts, DoNotHitAnotherCallInTheSameInterpreter) {
  const Obj nap = function("nap"), count = function("count_to");
  std::atomic<bool> stop{false};
  const auto others = [&](auto work) {
    return std::thread([&stop, work] {
      while (!stop) EXPECT_NO_THROW(work());
    });
  };
  std::thread sleeping = others([&] { nap({0.01}); });
  std::thread counting = others([&] { count({10'000}); });
  for (const char* name : {"loop", "sleep", "lock", "receive"})
    for (int i = 0; i < 5; ++i) EXPECT_EQ(interrupted(name), kType);
  stop = true;
  sleeping.join();
  counting.join();
}

TEST_F(Interrupts, ThatComeTooLateAreTakenBack) {
  Call call(core());
  EXPECT_FALSE(call.isPending());
  std::thread([&] {
    EXPECT_TRUE(call.interrupt());
    EXPECT_TRUE(call.interrupt()) << "twice is once";
  }).join();
  EXPECT_TRUE(call.isPending());
  EXPECT_TRUE(call.end());
  EXPECT_FALSE(call.isPending());
  EXPECT_FALSE(call.end());
  std::thread([&] { EXPECT_FALSE(call.interrupt()); }).join();
  expectNextCallsAreUntouched();
}

TEST_F(Interrupts, AtAnyMomentHitTheirCallOrNone) {
  constexpr int kCalls = 100'000;  // and more, until both have been seen
  const Obj count = function("count_to");
  std::atomic<Call*> current{nullptr};
  base::Mutex mutex;  // a Call is there while it is `current`
  std::atomic<bool> stop{false};
  std::thread interrupter([&] {
    std::mt19937 random(1);
    while (!stop) {
      {
        const base::Lock lock(mutex);
        if (Call* call = current.load(); call && call->interrupt()) call->wake();
      }
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    }
  });
  int calls = 0, returned = 0, raised = 0, takenBack = 0;
  for (int i = 0; i < kCalls || raised == 0 || takenBack == 0; ++i, ++calls) {
    std::optional<Call> call(std::in_place, core());
    current = &*call;
    try {
      ASSERT_EQ(count({i % 300}).toIValue().toInt(), i % 300);
      ++returned;
    } catch (const PythonException& error) {
      ASSERT_EQ(error.type(), kType);
      ++raised;
    }
    const bool back = call->end();
    takenBack += back;
    current = nullptr;
    {
      const base::Lock lock(mutex);
      call.reset();
    }
    ASSERT_EQ(count({100}).toIValue().toInt(), 100) << "the call after number " << i;
  }
  stop = true;
  interrupter.join();
  EXPECT_EQ(returned + raised, calls);
  RecordProperty("raised", raised);
  RecordProperty("taken_back", takenBack);
}

// --- threads that the call has started

TEST_F(Interrupts, ReachTheThreadsThatACallHasStarted) {
  constexpr std::uint64_t kCall = 7, kAnother = 8;
  const auto interrupt = [&](std::uint64_t call) {
    const Entered inside(core(), "interrupt threads");
    return inside.python().interruptStartedBy(call);
  };
  function("start_other")({});
  ASSERT_EQ(core().api().setCall(kCall), 0u);
  function("start_threads")({});
  EXPECT_EQ(core().api().setCall(0), kCall);
  EXPECT_EQ(interrupt(kAnother), 0u);
  EXPECT_EQ(interrupt(kCall), 2u);
  const auto end = Clock::now() + kPatience;
  while (log() != "['inner', 'outer']" && Clock::now() < end) {
    core().api().wakeStartedBy(kCall);
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_EQ(log(), "['inner', 'outer']");
  EXPECT_TRUE(function("end_other")({}).toIValue().toBool());
  expectNextCallsAreUntouched();
}

TEST_F(Interrupts, ReachThemWhereTheCallsOptionsSaySo) {
  const ReplicatedObj run = movable("run_threads");
  CallOptions options;
  options.deadline = CallOptions::in(500ms);
  options.interruptThreads = true;
  EXPECT_THROW(static_cast<void>(run.call({}, options)), DeadlineExceededError);
  const auto end = Clock::now() + kPatience;
  while (log() != "['inner', 'outer']" && Clock::now() < end) std::this_thread::sleep_for(2ms);
  EXPECT_EQ(log(), "['inner', 'outer']");
  expectNextCallsAreUntouched();
}

TEST_F(Interrupts, LetThemAloneOtherwise) {
  const ReplicatedObj run = movable("run_other");
  CallOptions options;
  options.deadline = CallOptions::in(500ms);
  EXPECT_THROW(static_cast<void>(run.call({}, options)), DeadlineExceededError);
  EXPECT_TRUE(function("end_other")({}).toIValue().toBool());
  EXPECT_EQ(log(), "[]");
}

// --- from one interpreter into another

struct PrintHook {
  std::function<void()> hook;  // what Python code's print() calls in C++
};

class NestedInterrupts : protected PrintHook, public Interrupts {
 protected:
  NestedInterrupts() : Interrupts(2, options()), inner(sessionOf(1)) {}

  InterpreterManagerOptions options() {
    InterpreterManagerOptions options;
    options.interpreters.output = [this](int, OutputStream, std::string_view) {
      if (hook) hook();
    };
    return options;
  }

  InterpreterSession inner;
};

TEST_F(NestedInterrupts, OfTheInnerCallDoNotReachTheOuterOne) {
  std::string outcome;
  hook = [&] {
    const Obj sleep = inner.global("work", "sleep");
    Call call(core(1));
    Interrupter interrupter(call);
    try {
      sleep({});
    } catch (const PythonException& error) {
      outcome = error.type();
    }
  };
  EXPECT_EQ(function("ask_hook")({"x"}).toIValue().toStringRef(), "asked");
  EXPECT_EQ(outcome, kType);
}

TEST_F(NestedInterrupts, OfTheOuterCallWaitForTheInnerOne) {
  std::string outcome;
  hook = [&] { outcome = inner.global("work", "nap")({0.5}).toIValue().toStringRef(); };
  const Obj ask = function("ask_hook");
  Call call(core(0));
  Interrupter interrupter(call);
  EXPECT_THROW(ask({"x"}), PythonException);
  EXPECT_EQ(outcome, "slept") << "woken, it goes on";
}

}  // namespace
}  // namespace multipy::runtime
