// A call that a C++20 coroutine waits for, without a thread that does.
//
//   AwaitedCall call = model.awaitCall({x}, options);
//   at::IValue y = co_await call;
//
// (In one expression too, but for lists in braces, with which gcc 12 cannot compile it.)
// The call begins when it is awaited, once. The coroutine goes on in the thread in which the call
// has ended: one of the manager's, or, if the call did not begin, the one that watches deadlines or
// that has requested a stop. That thread makes no other call meanwhile: a coroutine with much to do
// goes on elsewhere. What the call throws, co_await throws.
//
// A coroutine that is destroyed while it waits cancels the call, and is not resumed; what is passed
// to the call lives until that has ended. It must not be destroyed while it is being resumed, as
// ever.
//
// Threads: by the coroutine.
#pragma once

#include <coroutine>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "multipy/runtime/call_options.h"
#include "multipy/runtime/call_outcome.h"

namespace multipy::runtime {

class ReplicatedObj;

/// What ReplicatedObj::awaitCall() gives; see the head of this file.
class [[nodiscard]] AwaitedCall {
 public:
  AwaitedCall(AwaitedCall&&) noexcept;
  AwaitedCall& operator=(AwaitedCall&&) = delete;
  ~AwaitedCall();

  bool await_ready() const noexcept { return false; }  // it begins when it is awaited
  /// Throws what ReplicatedObj::callThen() throws at once; InvalidArgument for one that has been
  /// moved from, or awaited before.
  void await_suspend(std::coroutine_handle<> waiting);
  at::IValue await_resume();  // what the call returned; throws what it threw

 private:
  friend class ReplicatedObj;
  struct State;
  explicit AwaitedCall(std::shared_ptr<State> state) noexcept;

  std::shared_ptr<State> state_;
};

}  // namespace multipy::runtime
