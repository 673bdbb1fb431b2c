// Whose is it? Which interpreter a thread is in, and which one a PyObject
// belongs to.
//
// Every interpreter has an InterpreterId, its slot. All memory that its CPython
// allocates lies in one aligned range of reserved address space, its slice, so
// the owner of an object is a table look-up by address: no dereference of an
// object that another thread may be freeing. Objects that are not allocated
// (None, static types) lie in the mappings of its private libraries, which the
// loader reports.
//
// One per process: Ownership::process(). It is never destroyed.
// Threads: all members from any thread. ownerOf() and current() take no lock
// on the paths that matter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/interpreter_id.h"

namespace multipy::process {

/// Slices of ended interpreters that are not used again yet.
inline constexpr std::size_t kRestingSlices = 64;

struct AddressRange {
  void* begin = nullptr;
  std::size_t size = 0;
};

class Ownership {
 public:
  static Ownership& instance();

  /// Takes a free slot and reserves a slice for it (PROT_NONE). Throws
  /// runtime::LoadError when all slots or the address space are used up.
  InterpreterId admit();
  AddressRange slice(InterpreterId slot) const;
  /// Counts how often the slot has been admitted: tells an interpreter from its
  /// successor in the same slot. 0 for a slot never used.
  std::uint64_t generation(InterpreterId slot) const noexcept;

  /// From now on the interpreter in `slot` runs; `holdsGil` tells for the
  /// calling thread.
  void setLive(InterpreterId slot, bool (*holdsGil)());
  bool isLive(InterpreterId slot) const noexcept;
  /// The interpreter has been finalised: its objects have no owner any more.
  void setDead(InterpreterId slot) noexcept;
  /// After setDead and unloading: the slot may be admitted again. The slice rests until
  /// kRestingSlices others have been given back after it, so that a pointer left from a
  /// dead interpreter does not look alive soon.
  void release(InterpreterId slot) noexcept;

  void addRange(InterpreterId slot, const void* begin, const void* end);
  void removeRanges(InterpreterId slot) noexcept;

  /// From now on the program's own Python is known: what lies in no interpreter's memory is its.
  void setProgramLive() noexcept;

  /// Slot of the live interpreter that owns the object, none() if there is none.
  InterpreterId ownerOf(const void* object) const noexcept;

  /// The interpreter that the calling thread is in, none() if in none: set by
  /// entering; inherited by threads that Python makes; as the last resort, the
  /// interpreter whose GIL the thread holds.
  InterpreterId current() const noexcept;
  /// The interpreter whose Python the calling thread may run: as current(), and in a thread that is
  /// in none the program's own, if that is known.
  InterpreterId currentPython() const noexcept;
  /// What was set by setCurrent alone.
  static InterpreterId entered() noexcept;
  static void setCurrent(InterpreterId slot) noexcept;
  /// From now on `follow` is called in each thread that setCurrent() is called in, with what was
  /// set. There is room for one such function, which may not be taken away again.
  static void onSetCurrent(void (*follow)(InterpreterId slot)) noexcept;

 private:
  Ownership();
  struct State;
  State* state_;
};

}  // namespace multipy::process
