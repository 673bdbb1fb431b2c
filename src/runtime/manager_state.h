// What an InterpreterManager shares with everything made through it. Outlives the
// manager as long as a session, Package or ReplicatedObj refers to it; the
// interpreters do not (their cores refuse everything then).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "multipy/runtime/interpreter_manager.h"
#include "multipy/runtime/pool_figures.h"
#include "runtime/interpreter/gil.h"
#include "runtime/interpreter/interpreter_core.h"
#include "runtime/interpreter/interpreter_recipe.h"
#include "runtime/pool/call_ending.h"
#include "runtime/pool/call_records.h"
#include "runtime/pool/call_tallies.h"
#include "runtime/pool/observer_slot.h"
#include "runtime/pool/queued_calls.h"
#include "runtime/pool/timer.h"
#include "runtime/pool_keeper.h"
#include "runtime/scheduling/call_queue.h"
#include "runtime/scheduling/interpreter_users.h"

namespace multipy::runtime {

struct ManagerState final : Interpreters, std::enable_shared_from_this<ManagerState> {
  ManagerState(InterpreterManagerOptions given, InterpreterRecipe prepared, std::size_t n);

  /// What its interpreters are doing, but for one call. The stack of the longest running call is
  /// the one that was taken when a call began to wait.
  PoolFigures figures(CallId without = 0);
  PoolStats stats();
  PoolHealth health();
  /// Throws what a call or session that was not admitted becomes; `doing` as in "call m.pkl of
  /// p.pt". It tells what is being done but for one call, which is the refused one.
  [[noreturn]] void throwRefused(const CallQueue::Admission& refused, const std::string& doing,
                                 CallId without = 0);
  /// Throws what a call becomes that began and was ended; `raised`: what Python raised then, and
  /// where.
  [[noreturn]] void throwEnded(CallId call, EndReason why, const std::string& doing,
                               const std::string& raised);

  /// Ends a call that is under way; false: it is not.
  bool interruptByHand(CallId id);

  // --- Interpreters (by the timer's thread)
  void interrupt(CallId id, EndReason reason) noexcept override;
  bool isUnderWay(CallId id) const noexcept override { return calls.isUnderWay(id); }
  void giveUp(CallId id) noexcept override {
    keeper.ask(CallRecords::placeOf(id), ReplacementReason::Condemned, id);
  }

  InterpreterManagerOptions options;  // without warmUp, which is the keeper's
  const InterpreterRecipe recipe;
  ObserverSlot observer;
  InterpreterPlaces places;
  InterpreterUsers users;
  CallQueue queue;
  CallRecords calls;
  CallTallies tallies;
  Timer timer;
  CallEnding ending;
  QueuedCalls queued;
  PoolKeeper keeper;

  /// Ends the interpreters, and what watches over calls. By InterpreterManager's destructor, or
  /// where its constructor fails.
  void shutDown() noexcept;
  bool isOver() const noexcept { return over_; }

 private:
  RunningCallFigures describe(const CallUnderWay& call, const InterpreterCore& core) const;
  /// How many of the calls that were made have not waited in line.
  std::uint64_t notWaited(std::uint64_t made, std::uint64_t waited) noexcept;
  void askForStack() noexcept;
  void takeStack(InterpreterCore& core, CallId id);

  std::atomic<bool> over_{false};

  // A call's Python stack, taken a little while ago.
  struct TakenStack {
    CallId of = 0;
    std::string text;
  };
  std::atomic<std::uint64_t> notWaited_{0};    // as figures have said
  std::atomic<std::int64_t> stackAskedAt_{0};  // of coarseNow(), nanoseconds
  base::Mutex stackMutex_;
  TakenStack stack_ MULTIPY_GUARDED_BY(stackMutex_);
};

/// One interpreter of a manager, counted as in use.
class Reservation {
 public:
  /// Waits if `options` are given, and throws as a call with them does.
  explicit Reservation(ManagerState& manager, const CallOptions* options = nullptr);
  Reservation(Reservation&& other) noexcept
      : manager_(std::exchange(other.manager_, nullptr)), where_(other.where_) {}
  Reservation& operator=(Reservation&&) = delete;
  ~Reservation() {
    if (manager_) manager_->queue.leaveSession(where_);
  }

  const std::shared_ptr<InterpreterCore>& core() const noexcept {
    return manager_->places.cores[where_];
  }

 private:
  ManagerState* manager_;
  std::size_t where_ = 0;
};

/// The same for one call, which waits for it if all are busy.
class Turn {
 public:
  /// QueueFullError; with options DeadlineExceededError and CancelledError too. `model`: for them.
  Turn(ManagerState& manager, const CallCost& cost, const std::string& model,
       const CallOptions* options = nullptr)
      : manager_(manager), admission_(manager.queue.enter(cost, options)) {
    if (admission_.refused != CallQueue::Refusal::None) [[unlikely]]
      manager.throwRefused(admission_, "call " + model);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { manager_.queue.leave(admission_); }

  const std::shared_ptr<InterpreterCore>& core() const noexcept {
    return manager_.places.cores[static_cast<std::size_t>(admission_.where)];
  }
  int place() const noexcept { return admission_.where; }
  bool alone() const noexcept { return admission_.share == Share::Alone; }
  std::chrono::nanoseconds waited() const noexcept { return admission_.waited; }  // in line
  Entered::Priority priority() const noexcept {
    return admission_.share == Share::Priority ? Entered::Priority::High
                                               : Entered::Priority::Normal;
  }

 private:
  ManagerState& manager_;
  const CallQueue::Admission admission_;
};

}  // namespace multipy::runtime
