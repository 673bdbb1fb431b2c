// ReplicatedObj's calls that no thread of the program waits for.
#include <atomic>
#include <optional>
#include <stop_token>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/replicated_obj.h"
#include "runtime/checked_options.h"
#include "runtime/keyword_arguments.h"
#include "runtime/replicated_state.h"

namespace multipy::runtime {
namespace {

using Kwargs = std::unordered_map<std::string, at::IValue>;
using Then = std::function<void(CallOutcome)>;

/// What `work` returns or throws.
template <class Work>
CallOutcome outcomeOf(const Work& work) noexcept {
  try {
    return CallOutcome(work());
  } catch (...) {
    return CallOutcome(std::current_exception());
  }
}

class ReplicatedCall final : public QueuedCall {
 public:
  ReplicatedCall(std::shared_ptr<ReplicatedState> of, std::vector<at::IValue> with, Kwargs named,
                 const CallOptions& within, Then what)
      : QueuedCall(within),
        state_(std::move(of)),
        args_(std::move(with)),
        kwargs_(std::move(named)),
        then_(std::move(what)) {}

  void make() noexcept override {
    end(outcomeOf([&] {
      const KeywordArguments named(kwargs_);
      return state_->callObserved(nullptr, args_, named.data(), named.size(), &options, since);
    }));
  }
  void refuse(Refusal why) noexcept override {
    end(outcomeOf([&]() -> at::IValue { state_->refuse(*this, why); }));
  }

 private:
  void end(CallOutcome outcome) noexcept {
    args_.clear();
    kwargs_.clear();
    state_.reset();
    std::exchange(then_, nullptr)(std::move(outcome));
  }

  std::shared_ptr<ReplicatedState> state_;
  std::vector<at::IValue> args_;
  Kwargs kwargs_;
  Then then_;
};

}  // namespace

void ReplicatedObj::callThen(std::vector<at::IValue> args, Then then, const CallOptions& options,
                             Kwargs kwargs) const {
  ReplicatedState& replicated = state();
  if (!then) throw InvalidArgument("cannot call a ReplicatedObj: `then` is an empty function");
  replicated.start(std::make_shared<ReplicatedCall>(state_, std::move(args), std::move(kwargs),
                                                    checked(options), std::move(then)));
}

std::future<at::IValue> ReplicatedObj::callAsync(std::vector<at::IValue> args,
                                                 const CallOptions& options, Kwargs kwargs) const {
  auto promise = std::make_shared<std::promise<at::IValue>>();
  std::future<at::IValue> future = promise->get_future();
  callThen(
      std::move(args),
      [promise](CallOutcome outcome) {
        if (outcome.failed())
          promise->set_exception(outcome.error());
        else
          promise->set_value(std::move(outcome).get());
      },
      options, std::move(kwargs));
  return future;
}

// --- coroutines

struct AwaitedCall::State {
  State(ReplicatedObj of, std::vector<at::IValue> with, const CallOptions& within, Kwargs named)
      : object(std::move(of)),
        args(std::move(with)),
        kwargs(std::move(named)),
        options(within),
        onStop(within.stop, Forward{&stop}) {
    options.stop = stop.get_token();
  }

  /// The coroutine goes on, unless it is no more.
  void ended(CallOutcome with) noexcept {
    outcome.emplace(std::move(with));
    if (!over.exchange(true)) waiting.resume();
  }

  struct Forward {
    std::stop_source* to;
    void operator()() const noexcept { to->request_stop(); }
  };
  ReplicatedObj object;
  std::vector<at::IValue> args;
  Kwargs kwargs;
  CallOptions options;
  std::stop_source stop;
  std::stop_callback<Forward> onStop;  // the caller's own token ends it, too
  std::coroutine_handle<> waiting;
  bool begun = false;
  std::optional<CallOutcome> outcome;
  std::atomic<bool> over{false};  // resumed, or not to be resumed
};

AwaitedCall::AwaitedCall(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
AwaitedCall::AwaitedCall(AwaitedCall&&) noexcept = default;

AwaitedCall::~AwaitedCall() {
  if (state_ && !state_->over.exchange(true)) state_->stop.request_stop();
}

void AwaitedCall::await_suspend(std::coroutine_handle<> waiting) {
  if (!state_)
    throw InvalidArgument(
        "cannot await this AwaitedCall: it has been moved from; await the "
        "one that it was moved to");
  if (std::exchange(state_->begun, true))
    throw InvalidArgument(
        "cannot await this AwaitedCall again: a call begins once; make another one with "
        "awaitCall()");
  // From the call on this object may be no more: the coroutine may have gone on and ended.
  const std::shared_ptr<State> state = state_;
  state->waiting = waiting;
  state->object.callThen(
      std::move(state->args), [state](CallOutcome outcome) { state->ended(std::move(outcome)); },
      state->options, std::move(state->kwargs));
}

at::IValue AwaitedCall::await_resume() { return std::move(*state_->outcome).get(); }

AwaitedCall ReplicatedObj::awaitCall(std::vector<at::IValue> args, const CallOptions& options,
                                     Kwargs kwargs) const {
  state();
  return AwaitedCall(
      std::make_shared<AwaitedCall::State>(*this, std::move(args), options, std::move(kwargs)));
}

}  // namespace multipy::runtime
