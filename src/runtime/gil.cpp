#include "runtime/gil.h"

#include "torch/ownership.h"

namespace multipy::runtime {
namespace {

using routing::Ownership;

constinit thread_local Entered* innermost = nullptr;

}  // namespace

Entered::Entered(InterpreterCore& core, const char* doing)
    : core_(core), outer_(innermost), outerSlot_(Ownership::entered()) {
  if (!core.gilHeldHere()) {
    core.beginOperation(doing);
    takeGil();
  }
  innermost = this;
}

Entered::Entered(InterpreterCore& core, GatePassed)
    : core_(core), outer_(innermost), outerSlot_(Ownership::entered()) {
  takeGil();
  innermost = this;
}

void Entered::takeGil() {
  // Before another GIL is touched: this may throw, and takes none itself.
  void* state = nullptr;
  try {
    state = core_.threadState();
  } catch (...) {
    core_.endOperation();
    throw;
  }
  if (InterpreterCore* outer = InterpreterCore::inSlot(outerSlot_);
      outer && outer != &core_ && outer->api().holdsGil()) {
    outer->api().release();
    suspended_ = outer;
  }
  core_.api().acquire(state);
  Ownership::setCurrent(core_.slot());
  tookGil_ = true;
  core_.clearLeftBehind();
}

Entered::~Entered() {
  innermost = outer_;
  if (!tookGil_) return;
  core_.api().release();
  Ownership::setCurrent(outerSlot_);
  core_.endOperation();
  if (suspended_) suspended_->api().acquire(suspended_->api().threadState());
}

GilReleased::GilReleased() noexcept : slot_(Ownership::entered()) {
  InterpreterCore* core = InterpreterCore::inSlot(slot_);
  if (!core || !core->api().holdsGil()) return;
  core->api().release();
  Ownership::setCurrent(routing::kNone);
  released_ = core;
}

GilReleased::~GilReleased() {
  if (!released_) return;
  released_->api().acquire(released_->api().threadState());
  Ownership::setCurrent(slot_);
}

bool Entered::inside(const InterpreterCore& core) noexcept {
  for (const Entered* entered = innermost; entered; entered = entered->outer_)
    if (&entered->core_ == &core) return true;
  return false;
}

}  // namespace multipy::runtime
