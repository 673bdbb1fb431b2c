#include "runtime/interpreter/object_table.h"

#include <algorithm>
#include <utility>

#include "base/mutex.h"
#include "process/fork_guard.h"
#include "runtime/interpreter/gil.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {

ObjectTable::~ObjectTable() { dropAll(); }

BorrowedReference ObjectTable::find(const Entered& inside) const noexcept {
  return place(inside).load(std::memory_order_acquire);
}

const std::atomic<BorrowedReference>& ObjectTable::place(const Entered& inside) const noexcept {
  return objects_[inside.core().slot()];
}

BorrowedReference ObjectTable::keep(const Entered& inside, NewReference made) {
  OwnedReference owned(inside, std::move(made));
  const std::shared_ptr<InterpreterCore> core = inside.core().shared_from_this();
  BorrowedReference kept;
  if (!objects_[core->slot()].compare_exchange_strong(kept, owned.get())) return kept;
  const BorrowedReference ours = owned.release().borrowed();
  try {
    core->remember(this);
    // Only now: a dropAll() that runs beside us must not take the core off the list
    // before there is something to drop.
    const base::Lock lock(mutex_);
    std::erase_if(cores_, [](const auto& each) { return each->isShutDown(); });  // replaced since
    if (std::find(cores_.begin(), cores_.end(), core) == cores_.end()) cores_.push_back(core);
  } catch (...) {
    NewReference again = core->forget(this);
    if (!again) again = take(core->slot());  // it was not remembered
    const OwnedReference givenUp(inside, std::move(again));
    throw;
  }
  return ours;
}

void ObjectTable::drop(InterpreterCore& core) noexcept {
  if (process::inForkedChild()) return;
  if (NewReference owned = core.forget(this)) core.drop(std::move(owned));
}

void ObjectTable::dropAll() noexcept {
  if (process::inForkedChild()) return;  // no lock may be waited for there
  std::vector<std::shared_ptr<InterpreterCore>> cores;
  {
    const base::Lock lock(mutex_);
    cores.swap(cores_);
  }
  for (const auto& core : cores) drop(*core);
}

}  // namespace multipy::runtime
