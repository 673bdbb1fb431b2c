// Deferred release: references that were dropped without the interpreter's GIL, and thread
// states of threads that have ended. The next thread that enters, and so has the GIL, releases
// them.
//
// Threads: dropped() and ended() from any thread, never waiting; clear() and
// close() with the interpreter's GIL.
#pragma once

#include <utility>

#include "abi/interpreter_api.h"
#include "base/closable_stack.h"

namespace multipy::runtime {

/// A reference on its way to being given up. Deleted when that has happened.
struct DroppedReference {
  explicit DroppedReference(NewReference owned) noexcept : reference(std::move(owned)) {}
  virtual ~DroppedReference() = default;
  DroppedReference(const DroppedReference&) = delete;
  DroppedReference& operator=(const DroppedReference&) = delete;

  NewReference reference;
  DroppedReference* next = nullptr;
};

class DeferredRelease {
 public:
  using Pushed = base::ClosableStack<DroppedReference>::Pushed;

  /// Refused when the interpreter is gone: the object is no more, the node the
  /// caller's.
  Pushed dropped(DroppedReference* reference) noexcept { return references_.push(reference); }
  void ended(void* threadState) noexcept;

  bool empty() const noexcept { return references_.empty() && threadStates_.empty(); }
  bool closed() const noexcept { return references_.closed(); }

  void clear(const InterpreterApi::WithGil& python) noexcept;
  /// Clears and refuses what comes later.
  void close(const InterpreterApi::WithGil& python) noexcept;

 private:
  struct EndedThread {
    void* state;
    EndedThread* next = nullptr;
  };
  static void giveUp(const InterpreterApi::WithGil& python, DroppedReference* first) noexcept;
  static void discard(const InterpreterApi::WithGil& python, EndedThread* first) noexcept;

  base::ClosableStack<DroppedReference> references_;
  base::ClosableStack<EndedThread> threadStates_;
};

}  // namespace multipy::runtime
