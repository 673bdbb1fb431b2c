// Calls that no thread of the program waits for: futures, callbacks, coroutines.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/pool/queued_calls.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

constexpr const char* kModule = R"(
import threading
import time

log = []
gate = threading.Event()

def add(a, b=0):
    return a + b

def note(what):
    log.append(what)

def noted():
    return ','.join(log)

def fail():
    raise ValueError('refused')

inside = 0

def wait():
    global inside
    inside += 1
    gate.wait(60)
    inside -= 1
    return 'waited'

def open_gate():
    gate.set()

def is_inside():
    return inside

def sleep(seconds):
    time.sleep(seconds)
)";

CallOptions within(CallOptions::Clock::duration patience) {
  CallOptions options;
  options.deadline = CallOptions::in(patience);
  return options;
}

class AsyncCalls : public testing::Test {
 protected:
  explicit AsyncCalls(std::size_t n = 1, const PoolOptions& pool = {})
      : manager(std::make_unique<InterpreterManager>(n, with(pool))) {
    manager->registerModuleSource("async_work", kModule);
  }
  static InterpreterManagerOptions with(const PoolOptions& pool) {
    InterpreterManagerOptions options;
    options.pool = pool;
    return options;
  }
  ReplicatedObj function(const char* name) {
    auto session = manager->acquireOne();
    return manager->createMovable(session.global("async_work", name), &session);
  }
  Obj inFirst(const char* name) {
    return session_.emplace(manager->allInstances()[0].acquireSession()).global("async_work", name);
  }
  /// The one thread that makes calls is in one, until openGate().
  std::future<at::IValue> closeGate() {
    std::future<at::IValue> waiting = function("wait").callAsync({});
    while (inFirst("is_inside")({}).toIValue() == 0) std::this_thread::yield();
    return waiting;
  }
  void openGate() { inFirst("open_gate")({}); }

  std::optional<InterpreterSession> session_;
  std::unique_ptr<InterpreterManager> manager;
};

// ------------------------------------------------------- futures

TEST_F(AsyncCalls, AFutureHasTheResultOrTheError) {
  const ReplicatedObj add = function("add"), fail = function("fail");
  std::future<at::IValue> sum = add.callAsync({1}, {}, {{"b", 2}});
  EXPECT_EQ(sum.get().toInt(), 3);
  std::future<at::IValue> error = fail.callAsync({});
  EXPECT_THROW(error.get(), PythonException);
}

TEST_F(AsyncCalls, EachOfManyHasItsOwnResult) {
  const ReplicatedObj add = function("add");
  std::vector<std::future<at::IValue>> futures;
  for (int i = 0; i < 500; ++i) futures.push_back(add.callAsync({i}));
  for (int i = 0; i < 500; ++i) EXPECT_EQ(futures[static_cast<std::size_t>(i)].get().toInt(), i);
}

TEST_F(AsyncCalls, AFutureMayBeDroppedAndTheObjectToo) {
  for (int i = 0; i < 20; ++i) static_cast<void>(function("add").callAsync({i}));
  EXPECT_EQ(function("add").callAsync({1}).get().toInt(), 1);
}

// ------------------------------------------------------- in line

TEST_F(AsyncCalls, TheLineIsLeftAtTheDeadlineAndAtAStop) {
  const ReplicatedObj note = function("note"), noted = function("noted");
  auto waiting = closeGate();
  std::stop_source source;
  CallOptions stoppable;
  stoppable.stop = source.get_token();
  auto late = note.callAsync({"late"}, within(20ms));
  auto stopped = note.callAsync({"stopped"}, stoppable);
  auto made = note.callAsync({"made"}, within(1h));
  EXPECT_THROW(late.get(), DeadlineExceededError);
  source.request_stop();
  EXPECT_EQ(stopped.wait_for(0s), std::future_status::ready) << "by the thread that requests it";
  EXPECT_THROW(stopped.get(), CancelledError);
  openGate();
  made.get();
  EXPECT_EQ(waiting.get().toStringRef(), "waited");
  EXPECT_EQ(noted({}).toStringRef(), "made");
}

TEST_F(AsyncCalls, TheMoreImportantGoFirst) {
  const ReplicatedObj note = function("note"), noted = function("noted");
  auto waiting = closeGate();
  std::vector<std::future<at::IValue>> futures;
  for (const auto& [what, priority] :
       {std::pair("a", CallPriority::Low), std::pair("b", CallPriority::Normal),
        std::pair("c", CallPriority::High), std::pair("d", CallPriority::Normal)}) {
    CallOptions options;
    options.priority = priority;
    futures.push_back(note.callAsync({what}, options));
  }
  openGate();
  for (auto& future : futures) future.get();
  EXPECT_EQ(noted({}).toStringRef(), "c,b,d,a");
}

TEST_F(AsyncCalls, WhatHasPassedAlreadyIsTold) {
  const ReplicatedObj add = function("add");
  EXPECT_THROW(static_cast<void>(add.callAsync({1}, within(-1s))), DeadlineExceededError);
  std::stop_source source;
  source.request_stop();
  CallOptions options;
  options.stop = source.get_token();
  EXPECT_THROW(static_cast<void>(add.callAsync({1}, options)), CancelledError);
}

TEST_F(AsyncCalls, NoCallbackIsCalledByTheThreadThatMakesTheCall) {
  const ReplicatedObj add = function("add");
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<int> called = 0, calledHere = 0, thrown = 0;
  const auto then = [&](const CallOutcome&) {
    calledHere += std::this_thread::get_id() == here;
    ++called;
  };
  constexpr int kCalls = 2000;
  for (int i = 0; i < kCalls; ++i) try {
      add.callThen({1}, then, within(i * 10ns));  // passes before it is made, meanwhile, or later
    } catch (const DeadlineExceededError&) {
      ++thrown;
    }
  while (called + thrown < kCalls) std::this_thread::yield();
  EXPECT_EQ(calledHere, 0);
  EXPECT_GT(thrown, 0);
}

TEST_F(AsyncCalls, ARunningCallIsInterrupted) {
  const ReplicatedObj sleep = function("sleep");
  auto late = sleep.callAsync({3600.0}, within(30ms));
  try {
    late.get();
    FAIL();
  } catch (const DeadlineExceededError& error) {
    EXPECT_TRUE(error.hasBegun());
  }
}

PoolOptions bounded(std::size_t most) {
  PoolOptions options;
  options.mostWaiting = most;
  return options;
}

class BoundedAsyncCalls : public AsyncCalls {
 protected:
  BoundedAsyncCalls() : AsyncCalls(1, bounded(2)) {}
};

TEST_F(BoundedAsyncCalls, AreRefusedWhereTheLineIsFull) {
  const ReplicatedObj add = function("add");
  auto waiting = closeGate();
  auto first = add.callAsync({1}), second = add.callAsync({2});
  EXPECT_THROW(static_cast<void>(add.callAsync({3})), QueueFullError);
  openGate();
  EXPECT_EQ(first.get().toInt() + second.get().toInt(), 3);
  waiting.get();
  EXPECT_EQ(add.callAsync({3}).get().toInt(), 3);
}

// ------------------------------------------------------- callbacks

TEST_F(AsyncCalls, ACallbackMayMakeFurtherCalls) {
  const ReplicatedObj add = function("add");
  std::promise<std::int64_t> last;
  std::function<void(CallOutcome)> again = [&](CallOutcome outcome) {
    const std::int64_t value = std::move(outcome).get().toInt();
    if (value == 20) return last.set_value(add({value}).toInt());
    add.callThen({value}, again, {}, {{"b", 1}});
  };
  add.callThen({0}, again);
  EXPECT_EQ(last.get_future().get(), 20);
}

TEST_F(AsyncCalls, AnEmptyCallbackIsRefused) {
  EXPECT_THROW(function("add").callThen({1}, nullptr), InvalidArgument);
  EXPECT_THROW(ReplicatedObj().callThen({1}, [](CallOutcome) {}), InvalidArgument);
}

TEST_F(AsyncCalls, AtTheEndOfTheManagerThoseInLineAreToldAndThoseUnderWayEnd) {
  const ReplicatedObj add = function("add"), sleep = function("sleep");
  auto underWay = sleep.callAsync({0.2});
  auto inLine = add.callAsync({1});
  std::this_thread::sleep_for(50ms);
  session_.reset();
  manager.reset();
  EXPECT_EQ(underWay.wait_for(0s), std::future_status::ready);
  EXPECT_NO_THROW(underWay.get());
  EXPECT_THROW(inLine.get(), HandleError);
  EXPECT_THROW(static_cast<void>(add.callAsync({1})), HandleError);
}

class TwoInterpretersAsync : public AsyncCalls {
 protected:
  TwoInterpretersAsync() : AsyncCalls(2) {}
};

TEST_F(TwoInterpretersAsync, EachCallHasOneOutcomeWhateverEndsIt) {
  const ReplicatedObj sleep = function("sleep"), add = function("add");
  std::atomic<int> outcomes = 0, values = 0;
  constexpr int kCalls = 400;
  std::vector<std::stop_source> sources(kCalls);
  for (int i = 0; i < kCalls; ++i) {
    CallOptions options = within(std::chrono::milliseconds(5 + i % 40));
    options.stop = sources[static_cast<std::size_t>(i)].get_token();
    options.priority = static_cast<CallPriority>(i % 3);
    try {
      sleep.callThen(
          {0.001 * (i % 4)},
          [&](CallOutcome outcome) {
            values += !outcome.failed();
            ++outcomes;
          },
          options);
    } catch (const DeadlineExceededError&) {
      ++outcomes;
    }
    if (i % 3 == 0) sources[static_cast<std::size_t>(i / 2)].request_stop();
  }
  while (outcomes < kCalls) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(outcomes, kCalls);
  EXPECT_GT(values, 0);
  EXPECT_EQ(add.callAsync({7}).get().toInt(), 7);
}

// ------------------------------------------------------- coroutines
// (gcc 12 refuses a list in braces within an expression with co_await, so calls have names here.)

/// A coroutine that begins at once and whose end can be waited for.
struct Coroutine {
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;
  struct Final {
    bool await_ready() noexcept { return false; }
    /// It is suspended: as soon as its end is known, it may be destroyed.
    void await_suspend(Handle ending) noexcept {
      std::promise<void> ended = std::move(ending.promise().ended);
      ended.set_value();
    }
    void await_resume() noexcept {}
  };
  struct promise_type {
    Coroutine get_return_object() { return Coroutine(*this); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    Final final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
    std::promise<void> ended;
  };
  explicit Coroutine(promise_type& promise)
      : handle(Handle::from_promise(promise)), ended(promise.ended.get_future()) {}
  Coroutine(Coroutine&& other) noexcept
      : handle(std::exchange(other.handle, nullptr)), ended(std::move(other.ended)) {}
  ~Coroutine() { destroy(); }
  void wait() { ended.wait(); }
  void destroy() {
    if (handle) std::exchange(handle, nullptr).destroy();
  }
  Handle handle;
  std::future<void> ended;
};

TEST_F(AsyncCalls, ACoroutineGoesOnWithTheResultOrTheError) {
  const ReplicatedObj add = function("add"), fail = function("fail");
  std::int64_t sum = 0;
  std::string error;
  const auto run = [&]() -> Coroutine {
    for (int i = 0; i < 10; ++i) {
      AwaitedCall next = add.awaitCall({sum}, {}, {{"b", i}});
      sum = (co_await next).toInt();
    }
    AwaitedCall failing = fail.awaitCall({});
    try {
      co_await failing;
    } catch (const PythonException& raised) {
      error = raised.type();
    }
  };
  Coroutine coroutine = run();
  coroutine.wait();
  EXPECT_EQ(sum, 45);
  EXPECT_EQ(error, "ValueError");
}

TEST_F(AsyncCalls, ACoroutineMayBeRefusedAnyNumberOfTimes) {
  const ReplicatedObj add = function("add");
  constexpr int kCalls = 100'000;
  int refused = 0;
  const auto run = [&]() -> Coroutine {
    for (int i = 0; i < kCalls; ++i) {
      AwaitedCall next = add.awaitCall({1}, within(-1s));
      try {
        co_await next;
      } catch (const DeadlineExceededError&) {
        ++refused;
      }
    }
  };
  Coroutine coroutine = run();
  coroutine.wait();
  EXPECT_EQ(refused, kCalls);
}

TEST_F(AsyncCalls, ACallIsAwaitedOnceAndNotAfterAMove) {
  const ReplicatedObj add = function("add");
  int refused = 0;
  const auto run = [&]() -> Coroutine {
    AwaitedCall call = add.awaitCall({1}, {}, {{"b", 2}});
    co_await call;
    AwaitedCall other = add.awaitCall({1}, {}, {{"b", 2}});
    AwaitedCall moved = std::move(other);
    for (AwaitedCall* each : {&call, &other}) {
      try {
        co_await *each;
      } catch (const InvalidArgument&) {
        ++refused;
      }
    }
    co_await moved;
  };
  Coroutine coroutine = run();
  coroutine.wait();
  EXPECT_EQ(refused, 2);
}

TEST_F(AsyncCalls, ACoroutineThatIsDestroyedCancelsItsCall) {
  const ReplicatedObj note = function("note"), noted = function("noted"), sleep = function("sleep");
  auto waiting = closeGate();
  bool resumed = false;
  const auto run = [&]() -> Coroutine {
    AwaitedCall call = note.awaitCall({"destroyed"});
    co_await call;
    resumed = true;
  };
  Coroutine coroutine = run();
  coroutine.destroy();
  openGate();
  waiting.get();
  EXPECT_EQ(noted({}).toStringRef(), "");
  const auto runs = [&]() -> Coroutine {
    AwaitedCall call = sleep.awaitCall({3600.0});
    co_await call;
    resumed = true;
  };
  Coroutine running = runs();
  std::this_thread::sleep_for(50ms);
  running.destroy();  // its call is interrupted
  EXPECT_EQ(function("add").callAsync({1}).get().toInt(), 1);
  EXPECT_FALSE(resumed);
}

TEST_F(AsyncCalls, ACoroutinesOwnStopTokenEndsItsCall) {
  const ReplicatedObj sleep = function("sleep");
  std::stop_source source;
  CallOptions options;
  options.stop = source.get_token();
  bool cancelled = false;
  const auto run = [&]() -> Coroutine {
    AwaitedCall call = sleep.awaitCall({3600.0}, options);
    try {
      co_await call;
    } catch (const CancelledError&) {
      cancelled = true;
    }
  };
  Coroutine coroutine = run();
  std::this_thread::sleep_for(20ms);
  source.request_stop();
  coroutine.wait();
  EXPECT_TRUE(cancelled);
}

// ------------------------------------------------------- the line by itself

struct Counted : QueuedCall {
  Counted(const CallOptions& within, std::atomic<int>& ofMade, std::atomic<int>& ofRefused)
      : QueuedCall(within), made(ofMade), refused(ofRefused) {}
  void make() noexcept override { ++made; }
  void refuse(Refusal) noexcept override { ++refused; }
  std::atomic<int>&made, &refused;
};

TEST(QueuedCalls, EachCallIsMadeOrRefusedOnce) {
  constexpr int kThreads = 4, kCalls = 2000;
  std::atomic<int> made = 0, refused = 0, full = 0;
  Timer timer;
  QueuedCalls calls(timer, 2, 50, {SIZE_MAX, SIZE_MAX, SIZE_MAX}, [] { return 0; });
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < kCalls; ++i) {
          CallOptions options = within(std::chrono::microseconds(i % 3 ? 20 : 100'000));
          std::stop_source source;
          if (i % 2) options.stop = source.get_token();
          options.priority = static_cast<CallPriority>((i + t) % 3);
          const auto added = calls.add(std::make_shared<Counted>(options, made, refused));
          if (added != QueuedCalls::Added::Yes) ++full;
          source.request_stop();
        }
      });
  }
  while (made + refused + full < kThreads * kCalls) std::this_thread::yield();
  calls.stop();
  EXPECT_EQ(made + refused + full, kThreads * kCalls);
  EXPECT_EQ(calls.inLine(), 0u);
  EXPECT_EQ(calls.add(std::make_shared<Counted>(CallOptions(), made, refused)),
            QueuedCalls::Added::Ended);
}

}  // namespace
}  // namespace multipy::runtime
