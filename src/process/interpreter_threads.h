// Two threads per interpreter. One owns it: it initialises and finalises it, is its main
// thread for Python and does nothing else that Python code could wait for. The other one,
// the housekeeping thread, does the drops that need the interpreter's GIL and come from
// threads that must not wait for it; these run destructors written in Python, which may
// wait for a thread that waits for the owner.
//
// A child of fork() has neither of them, and the locks here may be held for ever: what is
// given to one is refused there, and what belongs to an interpreter can be released by that
// interpreter's own threads only. None of the locks is touched.
//
// Threads: everything from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <shared_mutex>

#include "base/interpreter_id.h"
#include "base/mutex.h"

namespace multipy::process {

/// Starts both. Throws EnvironmentError where no thread is to be had.
void startInterpreterThreads(InterpreterId slot);
/// Waits until all tasks are done; what is given later is refused.
void stopInterpreterThreads(InterpreterId slot) noexcept;

/// A task that its giver keeps until it runs: to give it takes no memory. Once it runs it may
/// be given again, or be no more.
class Task {
 public:
  virtual void run() noexcept = 0;

 protected:
  ~Task() = default;

 private:
  friend class TaskQueue;
  Task* next_ = nullptr;
};

/// Runs `task` soon, on `slot`'s housekeeping thread, which holds no GIL then. Dropping
/// things that need `slot`'s GIL goes through it. What it throws is not passed on.
/// False: refused.
bool postHousekeeping(InterpreterId slot, std::function<void()> task);
bool postHousekeeping(InterpreterId slot, Task& task) noexcept;
/// Runs `task` on that thread and waits for it; exceptions come back.
void runHousekeeping(InterpreterId slot, const std::function<void()>& task);
/// For a task on that thread that had better be done a little later: waits, but not once
/// another task has been given.
void pauseHousekeeping(InterpreterId slot, std::chrono::milliseconds atMost);

/// Runs `task` on the thread that starts and ends `slot`'s interpreter, which no destructor
/// keeps busy, and waits for it; exceptions come back. Like runHousekeeping() it needs no
/// memory but that of `task`.
void runOwner(InterpreterId slot, const std::function<void()>& task);
/// The same without waiting. False: refused.
bool postToOwner(InterpreterId slot, std::function<void()> task);

/// One life of one interpreter: a slot is used again, an incarnation is not.
struct Incarnation {
  InterpreterId slot;
  std::uint64_t generation;
};
/// The one that is in `slot` now; {none(), 0} for none(), which stands for C++.
Incarnation incarnation(InterpreterId slot) noexcept;

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
  std::shared_lock<base::SharedMutex> lock_;  // none in a forked child
  bool granted_ = false;
};

/// A part of teardown, with no GIL held: drops that are under way end, later ones of this
/// slot's storages leak (counted) instead of running.
void closeDrops(InterpreterId slot) noexcept;

}  // namespace multipy::process
