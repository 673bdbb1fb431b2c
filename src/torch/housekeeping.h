// Two threads per interpreter. One owns it: it initialises and finalises it, is its main
// thread for Python and does nothing else that Python code could wait for. The other one,
// the housekeeping thread, does the drops that need the interpreter's GIL and come from
// threads that must not wait for it; these run destructors written in Python, which may
// wait for a thread that waits for the owner. The functions for the runtime
// (startInterpreterThreads and so on) stand in torch_router.h; here is what the rest
// of src/torch needs.
//
// A child of fork() has neither of them, and the locks here may be held for ever: what is
// given to one is refused there, and what belongs to an interpreter can be released by that
// interpreter's own threads only. None of the locks is touched.
//
// Threads: everything from any thread.
#pragma once

#include <cstdint>
#include <shared_mutex>

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
  DropPermit(const DropPermit&) = delete;
  DropPermit& operator=(const DropPermit&) = delete;
  explicit operator bool() const noexcept { return granted_; }

 private:
  std::shared_lock<std::shared_mutex> lock_;  // none in a forked child
  bool granted_ = false;
};

}  // namespace multipy::routing
