// What a session shares with the Objs made through it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "multipy/runtime/interpreter_session.h"
#include "runtime/interpreter/interpreter_core.h"
#include "runtime/manager_state.h"
#include "runtime/packages/package_source.h"
#include "runtime/seat.h"

namespace multipy::runtime {

struct SessionState {
  SessionState(std::shared_ptr<InterpreterCore> ofCore, std::shared_ptr<ManagerState> ofManager,
               std::shared_ptr<PackageSource> ofPackage) noexcept
      : core(std::move(ofCore)), manager(std::move(ofManager)), package(std::move(ofPackage)) {}

  /// A session on an interpreter of the manager, which the manager chooses; with `options` once
  /// one is free.
  static InterpreterSession onAny(const std::shared_ptr<ManagerState>& manager,
                                  std::shared_ptr<PackageSource> package = nullptr,
                                  const CallOptions* options = nullptr);
  /// A session on a given one; `manager` is null for a stand-alone interpreter.
  static InterpreterSession on(Guest guest, std::shared_ptr<ManagerState> manager,
                               std::shared_ptr<PackageSource> package = nullptr);

  /// A session on the interpreter whose GIL this thread has: InternalError if it has none. It keeps
  /// that interpreter, also one that has been replaced.
  static InterpreterSession here();

  /// Of a session that the user gives; throws InvalidArgument for null and
  /// HandleError for one that was moved from. `doing` as in "create a movable".
  static const std::shared_ptr<SessionState>& of(const InterpreterSession* session,
                                                 const char* doing);

  /// Throws HandleError if the session has ended.
  void requireOpen(const char* doing) const;
  /// Name of the package that the session is about, for errors; empty if none.
  std::string_view wantedBy() const noexcept;

  const std::shared_ptr<InterpreterCore> core;
  const std::shared_ptr<ManagerState> manager;   // null: stand-alone
  const std::shared_ptr<PackageSource> package;  // null: not about a package
  // One of the two, given back when the session ends:
  std::optional<Reservation> reservation;
  std::optional<Guest> guest;
  std::atomic<bool> open{true};
};

}  // namespace multipy::runtime
