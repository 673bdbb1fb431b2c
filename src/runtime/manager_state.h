// What an InterpreterManager shares with everything made through it. Outlives the
// manager as long as a session, Package or ReplicatedObj refers to it; the
// interpreters do not (their cores refuse everything then).
#pragma once

#include <memory>
#include <vector>

#include "multipy/runtime/interpreter_manager.h"
#include "runtime/interpreter/gil.h"
#include "runtime/interpreter/interpreter_core.h"
#include "runtime/interpreter/interpreter_recipe.h"
#include "runtime/scheduling/call_queue.h"
#include "runtime/scheduling/interpreter_users.h"

namespace multipy::runtime {

struct ManagerState {
  ManagerState(InterpreterManagerOptions given, InterpreterRecipe prepared, std::size_t n)
      : options(std::move(given)),
        recipe(std::move(prepared)),
        cores(n),
        users(n),
        queue(users, cores) {}

  const InterpreterManagerOptions options;
  const InterpreterRecipe recipe;
  std::vector<std::shared_ptr<InterpreterCore>> cores;  // not changed once all are up
  InterpreterUsers users;
  CallQueue queue;
};

/// One interpreter of a manager, counted as in use.
class Reservation {
 public:
  explicit Reservation(ManagerState& manager) noexcept
      : manager_(&manager), where_(manager.queue.joinForSession()) {}
  Reservation(Reservation&& other) noexcept
      : manager_(std::exchange(other.manager_, nullptr)), where_(other.where_) {}
  Reservation& operator=(Reservation&&) = delete;
  ~Reservation() {
    if (manager_) manager_->queue.leaveSession(where_);
  }

  const std::shared_ptr<InterpreterCore>& core() const noexcept { return manager_->cores[where_]; }

 private:
  ManagerState* manager_;
  int where_;
};

/// The same for one call, which waits for it if all are busy.
class Turn {
 public:
  Turn(ManagerState& manager, const CallCost& cost) noexcept
      : manager_(manager), admission_(manager.queue.enter(cost)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { manager_.queue.leave(admission_); }

  const std::shared_ptr<InterpreterCore>& core() const noexcept {
    return manager_.cores[admission_.where];
  }
  Entered::Priority priority() const noexcept {
    return admission_.share == Share::Priority ? Entered::Priority::High
                                               : Entered::Priority::Normal;
  }

 private:
  ManagerState& manager_;
  const CallQueue::Admission admission_;
};

}  // namespace multipy::runtime
