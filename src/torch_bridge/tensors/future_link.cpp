#include "torch_bridge/tensors/future_link.h"

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/fork_mutex.h"
#include "base/per_interpreter.h"
#include "process/interpreter_threads.h"
#include "process/ownership.h"

namespace multipy::bridge {
namespace {

using c10::ivalue::Future;
using FuturePointer = c10::intrusive_ptr<Future>;

class FutureLink;

// The links that wait, by their interpreters' slots. Never destroyed.
struct WaitingLinks {
  base::ForkMutex lock;
  PerInterpreter<std::unordered_set<std::shared_ptr<FutureLink>>> links MULTIPY_GUARDED_BY(lock);
  static WaitingLinks& all() {
    static auto* const one = new WaitingLinks;
    return *one;
  }
};

std::exception_ptr failure(const std::string& text) noexcept {
  try {
    return std::make_exception_ptr(std::runtime_error(text));
  } catch (const std::bad_alloc&) {
    return std::current_exception();
  }
}

// (The task is to pass the result on.)
class FutureLink : public std::enable_shared_from_this<FutureLink>, private process::Task {
 public:
  FutureLink(InterpreterId owner, InterpreterId slot, TransferValue transfer)
      : interpreter_(process::incarnation(slot)),
        owner_(owner),
        transfer_(transfer),
        copy_(c10::make_intrusive<Future>(c10::AnyType::get())) {}

  FuturePointer copy() const { return copy_; }
  InterpreterId slot() const noexcept { return interpreter_.slot; }

  /// On the thread that completes the original, under any GIL or none.
  void completed(FuturePointer original) {
    original_ = std::move(original);
    self_ = shared_from_this();
    if (process::postHousekeeping(slot(), *this)) return;
    // Refused: the interpreter is ending, and sever() has been here or will be.
    original_.reset();
    self_.reset();
  }

  /// No GIL held; the interpreter still runs.
  void sever() noexcept {
    const FuturePointer copy = take();
    // What Python hung on a Future that it had from C++ goes with the copy, whose
    // last reference but Python's this may be.
    if (copy && owner_ != InterpreterId::none())
      fail(*copy, failure("waiting for a Future that came from a Python interpreter: that "
                          "interpreter ended before the Future was completed; keep the "
                          "InterpreterManager alive while you wait"));
  }

 private:
  /// On the housekeeping thread.
  void run() noexcept override {
    const auto self = std::move(self_);
    const FuturePointer original = std::move(original_);
    const FuturePointer copy = take();
    if (!copy) return;
    try {
      pass(*original, *copy);
    } catch (...) {
      fail(*copy, std::current_exception());
    }
  }

  /// What was to be done once the Future is completed may throw: that goes to no caller.
  static void fail(Future& copy, std::exception_ptr why) noexcept {
    try {
      copy.setErrorIfNeeded(std::move(why));
    } catch (...) {
    }
  }

  void pass(Future& original, Future& copy) {
    if (original.hasError()) {
      copy.setErrorIfNeeded(original.exception_ptr());
      return;
    }
    c10::IValue result;
    std::string error = "its interpreter has ended";
    std::optional<process::DropPermit> permit(
        interpreter_);  // the interpreter stays while it is used
    const bool transferred = *permit && transfer_(original.value(), owner_, &result, error);
    // What runs now is Python code of this interpreter, or C++ code of anybody's.
    if (owner_ != InterpreterId::none()) permit.reset();
    if (transferred)
      copy.markCompleted(std::move(result));
    else
      copy.setErrorIfNeeded(failure("passing on the result of a Future: " + error));
  }

  FuturePointer take() noexcept {
    WaitingLinks& waiting = WaitingLinks::all();
    const base::Lock guard(waiting.lock);
    waiting.links[slot()].erase(shared_from_this());
    return std::exchange(copy_, {});
  }

  const process::Incarnation interpreter_;
  const InterpreterId owner_;
  const TransferValue transfer_;
  FuturePointer copy_;  // with the lock of WaitingLinks once the link is among them
  // While it is a task.
  FuturePointer original_;
  std::shared_ptr<FutureLink> self_;
};

}  // namespace

FuturePointer linkFuture(const FuturePointer& original, InterpreterId owner, InterpreterId slot,
                         TransferValue transfer) {
  const auto link = std::make_shared<FutureLink>(owner, slot, transfer);
  FuturePointer copy = link->copy();
  {
    WaitingLinks& waiting = WaitingLinks::all();
    const base::Lock guard(waiting.lock);
    waiting.links[slot].insert(link);
  }
  // The original is passed by the callback's argument and not kept by it: a Future
  // that keeps itself would never die.
  original->addCallback(
      [link](Future& done) { link->completed(FuturePointer::reclaim_copy(&done)); });
  return copy;
}

// No memory is taken: there may be none left.
void severFutures(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return;
  WaitingLinks& waiting = WaitingLinks::all();
  for (;;) {
    std::shared_ptr<FutureLink> link;
    {
      const base::Lock guard(waiting.lock);
      if (waiting.links[slot].empty()) return;
      link = *waiting.links[slot].begin();
    }
    link->sever();  // and it is not among them any more
  }
}

}  // namespace multipy::bridge
