// One Python object per interpreter, made on first use there and kept: the
// unpickled object of a ReplicatedObj, the importer of a Package.
//
// find() is the hot path: one atomic load, by the interpreter's slot. What is
// stored is given up by drop(), by the table's destructor, or when the
// interpreter shuts down, whichever comes first; the interpreter knows which
// tables hold something of it (InterpreterCore::remember).
//
// Threads: what takes an Entered with the interpreter's GIL; the rest from any
// thread, without waiting for a GIL. A reference is given up only with the GIL,
// so what find() returned stays valid until the caller releases the GIL; code that
// calls into Python with it takes a new reference first.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "abi/interpreter_api.h"
#include "base/mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"

namespace multipy::runtime {

class Entered;
class InterpreterCore;

class ObjectTable {
 public:
  ObjectTable() = default;
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;
  ~ObjectTable();

  /// Null if there is none.
  BorrowedReference find(const Entered& inside) const noexcept;
  /// Where keep() puts it: for a thread that waits without the GIL, to look again.
  const std::atomic<BorrowedReference>& place(const Entered& inside) const noexcept;
  /// Takes over the reference `made`, unless there is an object already (another
  /// thread was faster), whose reference then stays. Returns the one that stays.
  /// What it throws (no memory) leaves the table as it was, and `made` given up.
  BorrowedReference keep(const Entered& inside, NewReference made);

  void drop(InterpreterCore& core) noexcept;
  void dropAll() noexcept;

 private:
  friend class InterpreterCore;
  /// By the interpreter, when it forgets this table: the reference, if any.
  NewReference take(InterpreterId slot) noexcept {
    return NewReference(objects_[slot].exchange(nullptr).get());
  }

  PerInterpreter<std::atomic<BorrowedReference>> objects_{};  // owned by the table
  base::Mutex mutex_;
  // Those that once had something.
  std::vector<std::shared_ptr<InterpreterCore>> cores_ MULTIPY_GUARDED_BY(mutex_);
};

}  // namespace multipy::runtime
