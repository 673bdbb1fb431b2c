// One Python object per interpreter, made on first use there and kept: the
// unpickled object of a ReplicatedObj, the importer of a Package.
//
// find() is the hot path: one atomic load, by the interpreter's slot. What is
// stored is given up by drop(), by the table's destructor, or when the
// interpreter shuts down, whichever comes first; the interpreter knows which
// tables hold something of it (InterpreterCore::remember).
//
// Threads: find() and keep() with the interpreter's GIL; the rest from any
// thread, without waiting for a GIL. A reference is given up only with the GIL,
// so what find() returned stays valid until the caller releases the GIL; who
// calls into Python with it must own a reference of its own.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "abi/interpreter_api.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"

namespace multipy::runtime {

class InterpreterCore;

class HandleTable {
 public:
  HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;
  ~HandleTable();

  /// Borrowed; null if there is none.
  Handle find(const InterpreterCore& core) const noexcept;
  /// Where keep() puts it: for who waits without the GIL, to look again.
  const std::atomic<Handle>& place(const InterpreterCore& core) const noexcept;
  /// Takes over the reference `made`, unless there is an object already (another
  /// thread was faster), whose reference then stays. Returns the one that stays,
  /// borrowed. What it throws (no memory) leaves the table as it was, and `made` given up.
  Handle keep(const std::shared_ptr<InterpreterCore>& core, Handle made);

  void drop(InterpreterCore& core) noexcept;
  void dropAll() noexcept;

 private:
  friend class InterpreterCore;
  /// By the interpreter, when it forgets this table: the owned reference, if any.
  Handle take(InterpreterId slot) noexcept { return handles_[slot].exchange(nullptr); }

  PerInterpreter<std::atomic<Handle>> handles_{};
  std::mutex mutex_;
  std::vector<std::shared_ptr<InterpreterCore>> cores_;  // guarded by mutex_; once had something
};

}  // namespace multipy::runtime
