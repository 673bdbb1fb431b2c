#include "forms.h"

#include <ATen/Functions.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace multipy::soak::pool {
namespace {

using namespace std::chrono_literals;
using runtime::CallOutcome;

constexpr int kMostUnderWay = 8;  // of one thread

std::array<std::atomic<long>, kEnds> notHad{};

}  // namespace

class Forms::UnderWay {
 public:
  bool isFull() const {
    const std::lock_guard lock(mutex_);
    return count_ >= kMostUnderWay;
  }
  void more() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void less() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  void waitForAll() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [&] { return count_ == 0; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;
};

// --- coroutines

/// Goes on by itself and ends by itself.
struct Forms::Detached {
  struct promise_type {
    Detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

/// Is destroyed while it waits.
struct Forms::Kept {
  struct promise_type {
    Kept get_return_object() {
      return Kept(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  explicit Kept(std::coroutine_handle<promise_type> of) : handle(of) {}
  Kept(Kept&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Kept& operator=(Kept&&) = delete;
  ~Kept() {
    if (handle) handle.destroy();
  }
  std::coroutine_handle<promise_type> handle;
};

Forms::Detached Forms::await(Call call, std::shared_ptr<UnderWay> underWay) {
  Pool& pool = pool_;  // this object may be gone when it goes on
  CallOutcome outcome{at::IValue()};
  try {
    runtime::AwaitedCall awaited = pool.model.awaitCall(call.arguments(), call.optionsOrNone());
    outcome = CallOutcome(co_await awaited);
  } catch (...) {
    outcome = CallOutcome(std::current_exception());
  }
  judge(pool, call, outcome);
  underWay->less();
}

Forms::Kept Forms::awaitForEver(Call call) {
  Pool& pool = pool_;
  std::string ended = "it has ended";
  try {
    runtime::AwaitedCall awaited = pool.model.awaitCall(call.arguments());
    co_await awaited;
  } catch (const std::exception& error) {
    ended = error.what();
  }
  pool.faults.note("call that nothing was to end", std::to_string(call.id) + ": " + ended);
}

// --- all forms

Forms::Forms(Pool& pool, std::uint64_t seed)
    : pool_(pool), random_(seed), underWay_(std::make_shared<UnderWay>()) {}

Forms::~Forms() { underWay_->waitForAll(); }

void Forms::next() {
  const std::int64_t choice = random_.number(1, 100);
  if (choice <= 10) return session();
  if (underWay_->isFull() || choice <= 45) return waitedFor();
  if (choice <= 63) return futures();
  if (choice <= 65) return forgottenFuture();
  if (choice <= 83) return callback();
  if (choice <= 98) return coroutine();
  droppedCoroutine();
}

void Forms::waitedFor() {
  const Call call = plan(pool_, random_, Maker::Pool);
  judge(pool_, call, outcomeOf([&] {
          return call.options ? pool_.model.call(call.arguments(), *call.options)
                              : pool_.model(call.arguments());
        }));
}

void Forms::futures() {
  std::vector<Waiting> all;
  for (std::int64_t left = random_.number(1, 4); left > 0; --left) {
    Call call = plan(pool_, random_, Maker::Pool);
    try {
      auto result = pool_.model.callAsync(call.arguments(), call.optionsOrNone());
      all.push_back({std::move(call), std::move(result)});
    } catch (...) {
      judge(pool_, call, CallOutcome(std::current_exception()));
    }
  }
  for (Waiting& each : all) judge(pool_, each.call, outcomeOf([&] { return each.result.get(); }));
}

void Forms::forgottenFuture() {
  const Call call = plan(pool_, random_, Maker::Pool, Ending::ByItself);
  pool_.ledger.forget(call.id);
  static_cast<void>(pool_.model.callAsync(call.arguments()));
}

void Forms::callback() {
  const auto call = std::make_shared<const Call>(plan(pool_, random_, Maker::Pool));
  underWay_->more();
  const bool goesOn = random_.chance(10);
  const std::uint64_t seed = random_.next();
  try {
    pool_.model.callThen(
        call->arguments(),
        [&pool = pool_, underWay = underWay_, call, goesOn, seed](CallOutcome outcome) {
          judge(pool, *call, outcome);
          if (goesOn && !outcome.failed()) {  // then this thread is there for it
            Random random(seed);
            const Call further = plan(pool, random, Maker::Pool, Ending::ByItself);
            judge(pool, further, outcomeOf([&] { return pool.model(further.arguments()); }));
          }
          underWay->less();
        },
        call->optionsOrNone());
  } catch (...) {
    judge(pool_, *call, CallOutcome(std::current_exception()));
    underWay_->less();
  }
}

void Forms::coroutine() {
  underWay_->more();
  await(plan(pool_, random_, Maker::Pool), underWay_);
}

void Forms::droppedCoroutine() {
  Call call = plan(pool_, random_, Maker::Pool, Ending::ByStopOnly);
  pool_.ledger.forget(call.id);
  const auto coroutine = std::make_shared<Kept>(awaitForEver(std::move(call)));
  // Not by this thread: it may come to wait for what that call keeps busy.
  pool_.later.in(random_.number(0, 300) * 1ms, [coroutine] {});
}

void Forms::session() {
  std::optional<runtime::CallOptions> options;
  std::optional<std::stop_source> stop;
  if (random_.chance(70)) options = limits(pool_, random_, stop, false);
  try {
    const Versions::Moment made = pool_.versions.now();
    const runtime::InterpreterSession session =
        options ? pool_.model.acquireSession(*options) : pool_.model.acquireSession();
    for (std::int64_t left = random_.number(1, 3); left > 0; --left) {
      Call call = plan(pool_, random_, Maker::Session, Ending::ByItself);
      call.made = made;  // it keeps the version that it began with
      judge(pool_, call, outcomeOf([&] { return session.self(call.arguments()).toIValue(); }));
    }
  } catch (const std::exception& error) {
    if (const auto end = endOf(error, options, stop))
      ++notHad[static_cast<std::size_t>(*end)];
    else
      pool_.faults.note("session that was not had", error.what());
  }
}

Ledger::Ends Forms::sessionsNotHad() {
  Ledger::Ends ends{};
  for (std::size_t end = 0; end < kEnds; ++end) ends[end] = notHad[end];
  return ends;
}

}  // namespace multipy::soak::pool
