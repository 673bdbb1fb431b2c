// Whose is it? Which interpreter a thread is in, and which one a PyObject
// belongs to.
//
// Every interpreter has a slot (a small number). All memory that its CPython
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

namespace multipy::process {

inline constexpr int kMaxInterpreters = 256;
inline constexpr int kNone = -1;
/// Stands for the process itself: what the resident copy of a library registers has this
/// owner, and no thread is ever in it.
inline constexpr int kResidentSlot = kMaxInterpreters;
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
  int admit();
  AddressRange slice(int slot) const;
  /// Counts how often the slot has been admitted: tells an interpreter from its
  /// successor in the same slot. 0 for a slot never used.
  std::uint64_t generation(int slot) const noexcept;

  /// From now on the interpreter in `slot` runs; `holdsGil` tells for the
  /// calling thread.
  void setLive(int slot, bool (*holdsGil)());
  bool isLive(int slot) const noexcept;
  /// The interpreter has been finalised: its objects have no owner any more.
  void setDead(int slot) noexcept;
  /// After setDead and unloading: the slot may be admitted again. The slice rests until
  /// kRestingSlices others have been given back after it, so that a pointer left from a
  /// dead interpreter does not look alive soon.
  void release(int slot) noexcept;

  void addRange(int slot, const void* begin, const void* end);
  void removeRanges(int slot) noexcept;

  /// Slot of the live interpreter that owns the object, kNone if there is none.
  int ownerOf(const void* object) const noexcept;

  /// The interpreter that the calling thread is in, kNone if in none: set by
  /// entering; inherited by threads that Python makes; as the last resort, the
  /// interpreter whose GIL the thread holds.
  int current() const noexcept;
  /// What was set by setCurrent alone.
  static int entered() noexcept;
  static void setCurrent(int slot) noexcept;
  /// From now on `follow` is called in each thread that setCurrent() is called in, with what was
  /// set. There is room for one such function, which may not be taken away again.
  static void onSetCurrent(void (*follow)(int slot)) noexcept;

 private:
  Ownership();
  struct State;
  State* state_;
};

}  // namespace multipy::process
