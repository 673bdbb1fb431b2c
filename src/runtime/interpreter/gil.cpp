#include "runtime/interpreter/gil.h"

#include "base/interpreter_id.h"
#include "process/ownership.h"

namespace multipy::runtime {
namespace {

using process::Ownership;

constinit thread_local Entered* innermost = nullptr;

}  // namespace

Entered::Entered(InterpreterCore& core, const char* doing, Priority priority)
    : core_(core), outer_(innermost), outerSlot_(Ownership::entered()) {
  if (!core.gilHeldHere()) {
    core.beginOperation(doing);
    takeGil(priority);
  }
  innermost = this;
}

Entered::Entered(InterpreterCore& core, GatePassed, Priority priority)
    : core_(core), outer_(innermost), outerSlot_(Ownership::entered()) {
  takeGil(priority);
  innermost = this;
}

void Entered::takeGil(Priority priority) {
  // Before another GIL is touched: this may throw, and takes none itself.
  try {
    state_ = core_.threadState();
  } catch (...) {
    core_.endOperation();
    throw;
  }
  if (InterpreterCore* outer = InterpreterCore::inSlot(outerSlot_);
      outer && outer != &core_ && outer->api().holdsGil()) {
    outer->api().release();
    suspended_ = outer;
  }
  if (priority == Priority::High) [[unlikely]]
    core_.api().acquireWithPriority(state_);
  else
    core_.api().acquire(state_);
  priority_ = priority;
  Ownership::setCurrent(core_.slot());
  tookGil_ = true;
  core_.clearDeferred();
}

Entered::~Entered() {
  innermost = outer_;
  if (!tookGil_) return;
  if (priority_ == Priority::High) [[unlikely]]
    core_.api().releaseWithPriority();
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
  Ownership::setCurrent(InterpreterId::none());
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
