// One thread per interpreter, its owner thread: it initialises and finalises
// the interpreter and does the drops that need the interpreter's GIL and come
// from threads that must not wait for it. The functions for the runtime
// (startHousekeeping and so on) stand in torch_router.h; here is what the rest
// of src/torch needs.
//
// Threads: everything from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace multipy::routing {

/// One life of one interpreter: a slot is used again, an incarnation is not.
struct Incarnation {
  int slot;
  std::uint64_t generation;
};
/// Who lives in `slot` now; {kNone, 0} for kNone, which stands for C++.
Incarnation incarnation(int slot) noexcept;

/// Leave to release something that belongs to an interpreter: while granted, the
/// interpreter is there and closeDrops() waits. Never ask for it while holding
/// a GIL other than that interpreter's: finalisation holds back new permits
/// while it waits for the old ones.
class DropPermit {
 public:
  explicit DropPermit(Incarnation owner);
  ~DropPermit();
  DropPermit(const DropPermit&) = delete;
  DropPermit& operator=(const DropPermit&) = delete;
  explicit operator bool() const noexcept { return granted_; }

 private:
  int slot_;
  bool granted_ = false;
};

/// runHousekeeping() for who may be what that thread is waiting for: false, and nothing is
/// done, if it has not begun with the task after `patience`.
bool runHousekeepingWithin(int slot, const std::function<void()>& task,
                           std::chrono::milliseconds patience);

}  // namespace multipy::routing
