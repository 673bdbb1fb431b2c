// What the copies of an Obj share: the owned reference to the Python object, and
// the session through which it was made. When the last Obj goes, this very
// object is what is left behind for the interpreter: no allocation, no GIL.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "multipy/runtime/obj.h"
#include "runtime/interpreter/deferred_release.h"
#include "runtime/session_state.h"

namespace multipy::runtime {

class Entered;

struct ObjectState : DroppedReference {
  ObjectState(NewReference owned, std::shared_ptr<const SessionState> through) noexcept
      : DroppedReference(std::move(owned)), session(std::move(through)) {}

  /// An Obj for a reference, which it takes over; a null one is the failure that Python
  /// reported.
  static Obj adopt(const Entered& inside, NewReference owned, const Failure& failure,
                   const std::shared_ptr<const SessionState>& session);

  /// Throws InvalidArgument if the Obj is empty, HandleError if its session has
  /// ended. `doing` as in "call an Obj".
  static const ObjectState& of(const Obj& obj, const char* doing);
  /// Null if the Obj is empty.
  static const ObjectState* peek(const Obj& obj) noexcept { return obj.state_; }

  InterpreterCore& core() const noexcept { return *session->core; }
  BorrowedReference object() const noexcept { return reference.borrowed(); }

  std::atomic<std::uint32_t> uses{1};  // Objs that refer to this
  const std::shared_ptr<const SessionState> session;
};

}  // namespace multipy::runtime
