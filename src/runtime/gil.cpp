#include "runtime/gil.h"

#include "torch/ownership.h"

namespace multipy::runtime {
namespace {

using routing::Ownership;

constinit thread_local Entered* innermost = nullptr;

}  // namespace

Entered::Entered(InterpreterCore& core, const char* doing, Pace pace)
    : core_(core), outer_(innermost), outerSlot_(Ownership::entered()) {
  if (!core.gilHeldHere()) {
    core.beginOperation(doing);
    takeGil(pace);
  }
  innermost = this;
}

Entered::Entered(InterpreterCore& core, GatePassed)
    : core_(core), outer_(innermost), outerSlot_(Ownership::entered()) {
  takeGil(Pace::Normal);
  innermost = this;
}

void Entered::takeGil(Pace pace) {
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
  if (pace == Pace::Hurried) [[unlikely]]
    core_.api().acquireInAHurry(state);
  else
    core_.api().acquire(state);
  pace_ = pace;
  Ownership::setCurrent(core_.slot());
  tookGil_ = true;
  core_.clearLeftBehind();
}

Entered::~Entered() {
  innermost = outer_;
  if (!tookGil_) return;
  if (pace_ == Pace::Hurried) [[unlikely]]
    core_.api().releaseInAHurry();
  else
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
