// Being inside an interpreter: "this thread holds that interpreter's GIL" as an
// object.
//
//   const Entered inside(*core, "call an Obj");
//   const OwnedReference result(inside, inside.python().call(...));
//
// What needs the GIL takes an Entered: there is no other way to Python's objects.
//
// A thread holds at most one interpreter's GIL. Entering B while it holds A's
// gives A's up and takes it again on leaving, so that no two threads can wait for
// each other's. Entering an interpreter whose GIL the thread holds already costs
// a look. A thread that Python made is known by its current interpreter
// (bridge::Ownership), which it inherited.
//
// Threads: made and destroyed by one thread, in the reverse order of making.
#pragma once

#include <utility>

#include "abi/interpreter_api.h"
#include "base/interpreter_id.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {

class Entered {
 public:
  struct GatePassed {};
  enum class Priority {
    Normal,
    /// The interpreter is busy with a much longer call, which is not waited for, or with one call
    /// after the other (interpreter/cpython/gil_priority.h). For what is short.
    High,
  };

  /// Throws HandleError as InterpreterCore::beginOperation does.
  Entered(InterpreterCore& core, const char* doing, Priority priority = Priority::Normal);
  /// The caller has passed the gate; leaving it is ours.
  Entered(InterpreterCore& core, GatePassed, Priority priority = Priority::Normal);
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

  InterpreterCore& core() const noexcept { return core_; }
  /// What can be done with Python's objects, until something is entered within this.
  const InterpreterApi::WithGil& python() const noexcept { return core_.python(); }

  /// The calling thread's PyThreadState there.
  void* threadState() const noexcept { return state_ ? state_ : core_.api().threadState(); }

  /// Is the calling thread inside, with the GIL held or given up for another?
  static bool inside(const InterpreterCore& core) noexcept;

 private:
  void takeGil(Priority priority);

  InterpreterCore& core_;
  Entered* const outer_;                  // the one that this thread was in before
  const InterpreterId outerSlot_;         // what Ownership said before
  InterpreterCore* suspended_ = nullptr;  // whose GIL was given up for ours
  void* state_ = nullptr;                 // if it took the GIL
  bool tookGil_ = false;
  Priority priority_ = Priority::Normal;
};

/// Gives up whatever GIL the calling thread holds, and takes it again at the end.
class GilReleased {
 public:
  GilReleased() noexcept;
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  const InterpreterId slot_;  // what Ownership said before
  InterpreterCore* released_ = nullptr;
};

/// A reference that is given up with the GIL held: for the time between getting it and passing it
/// on.
class OwnedReference {
 public:
  OwnedReference(const Entered& inside, NewReference owned) noexcept
      : inside_(inside), owned_(std::move(owned)) {}
  ~OwnedReference() {
    if (owned_) inside_.python().giveUp(std::move(owned_));
  }
  OwnedReference(const OwnedReference&) = delete;
  OwnedReference& operator=(const OwnedReference&) = delete;

  explicit operator bool() const noexcept { return static_cast<bool>(owned_); }
  BorrowedReference get() const noexcept { return owned_.borrowed(); }
  NewReference release() noexcept { return std::move(owned_); }

 private:
  const Entered& inside_;
  NewReference owned_;
};

}  // namespace multipy::runtime
