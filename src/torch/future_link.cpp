#include "torch/future_link.h"

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "interpreter/fork_mutex.h"
#include "torch/housekeeping.h"
#include "torch/ownership.h"
#include "torch/torch_router.h"

namespace multipy::routing {
namespace {

using c10::ivalue::Future;
using FuturePointer = c10::intrusive_ptr<Future>;

class FutureLink;

// The links that wait. Never destroyed.
struct WaitingLinks {
  ForkMutex lock;
  std::unordered_set<std::shared_ptr<FutureLink>> links;
  static WaitingLinks& all() {
    static auto* const one = new WaitingLinks;
    return *one;
  }
};

std::exception_ptr failure(const std::string& text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

class FutureLink : public std::enable_shared_from_this<FutureLink> {
 public:
  FutureLink(int owner, int slot, CrossValue cross)
      : interpreter_(incarnation(slot)),
        owner_(owner),
        cross_(cross),
        copy_(c10::make_intrusive<Future>(c10::AnyType::get())) {}

  FuturePointer copy() const { return copy_; }
  int slot() const noexcept { return interpreter_.slot; }

  /// On the thread that completes the original, under any GIL or none.
  void completed(FuturePointer original) {
    // Refused: the interpreter is ending, and sever() has been here or will be.
    postHousekeeping(slot(), [self = shared_from_this(), original = std::move(original)] {
      self->pass(*original);
    });
  }

  /// No GIL held; the interpreter still runs.
  void sever() {
    const FuturePointer copy = take();
    // What Python hung on a Future that it had from C++ goes with the copy, whose
    // last reference but Python's this may be.
    if (copy && owner_ != kNone)
      copy->setErrorIfNeeded(failure(
          "waiting for a Future that came from a Python interpreter: that interpreter ended before "
          "the Future was completed; keep the InterpreterManager alive while you wait"));
  }

 private:
  /// On the housekeeping thread.
  void pass(Future& original) {
    const FuturePointer copy = take();
    if (!copy) return;
    if (original.hasError()) {
      copy->setErrorIfNeeded(original.exception_ptr());
      return;
    }
    c10::IValue result;
    std::string error = "its interpreter has ended";
    std::optional<DropPermit> permit(interpreter_);  // the interpreter stays while it is used
    const bool crossed = *permit && cross_(original.value(), owner_, &result, error);
    // What runs now is Python code of this interpreter, or C++ code of anybody's.
    if (owner_ != kNone) permit.reset();
    if (crossed)
      copy->markCompleted(std::move(result));
    else
      copy->setErrorIfNeeded(failure("passing on the result of a Future: " + error));
  }

  FuturePointer take() {
    WaitingLinks& waiting = WaitingLinks::all();
    const std::lock_guard guard(waiting.lock);
    waiting.links.erase(shared_from_this());
    return std::exchange(copy_, {});
  }

  const Incarnation interpreter_;
  const int owner_;
  const CrossValue cross_;
  FuturePointer copy_;  // guarded by WaitingLinks' lock once the link is among them
};

}  // namespace

FuturePointer linkFuture(const FuturePointer& original, int owner, int slot, CrossValue cross) {
  const auto link = std::make_shared<FutureLink>(owner, slot, cross);
  FuturePointer copy = link->copy();
  {
    WaitingLinks& waiting = WaitingLinks::all();
    const std::lock_guard guard(waiting.lock);
    waiting.links.insert(link);
  }
  // The original is passed by the callback's argument and not kept by it: a Future
  // that keeps itself would never die.
  original->addCallback([link](Future& done) {
    link->completed(FuturePointer::reclaim_copy(&done));
  });
  return copy;
}

void severFutures(int slot) {
  std::vector<std::shared_ptr<FutureLink>> severed;
  {
    WaitingLinks& waiting = WaitingLinks::all();
    const std::lock_guard guard(waiting.lock);
    for (const auto& link : waiting.links) {
      if (link->slot() == slot) severed.push_back(link);
    }
  }
  for (const auto& link : severed) link->sever();
}

}  // namespace multipy::routing
