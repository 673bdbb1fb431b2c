#include "runtime/interpreter/handle_table.h"

#include <algorithm>

#include "process/fork_guard.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {

HandleTable::~HandleTable() { dropAll(); }

Handle HandleTable::find(const InterpreterCore& core) const noexcept {
  return place(core).load(std::memory_order_acquire);
}

const std::atomic<Handle>& HandleTable::place(const InterpreterCore& core) const noexcept {
  return handles_[core.slot()];
}

Handle HandleTable::keep(const std::shared_ptr<InterpreterCore>& core, Handle made) {
  Handle kept = nullptr;
  if (!handles_[core->slot()].compare_exchange_strong(kept, made)) {
    core->api().decref(made);
    return kept;
  }
  try {
    core->remember(this);
    // Only now: a dropAll() that runs beside us must not take the core off the list
    // before there is something to drop.
    const std::lock_guard lock(mutex_);
    if (std::find(cores_.begin(), cores_.end(), core) == cores_.end()) cores_.push_back(core);
  } catch (...) {
    Handle again = core->forget(this);
    if (!again) again = take(core->slot());  // it was not remembered
    if (again) core->api().decref(again);
    throw;
  }
  return made;
}

void HandleTable::drop(InterpreterCore& core) noexcept {
  if (process::inForkedChild()) return;
  if (Handle owned = core.forget(this)) core.drop(owned);
}

void HandleTable::dropAll() noexcept {
  if (process::inForkedChild()) return;  // no lock may be waited for there
  std::vector<std::shared_ptr<InterpreterCore>> cores;
  {
    const std::lock_guard lock(mutex_);
    cores.swap(cores_);
  }
  for (const auto& core : cores) drop(*core);
}

}  // namespace multipy::runtime
