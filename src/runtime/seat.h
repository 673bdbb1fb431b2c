// One of a manager's interpreters, as its users know it: InterpreterManager::allInstances()[i]. The
// interpreter in it may be replaced by another one; sessions that were made on the old one stay
// there, as its guests, and it is not shut down before they have ended.
//
// Threads: all members from any thread; none waits but for the seat, for a moment.
#pragma once

#include <memory>
#include <utility>

#include "base/mutex.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {

class Guest {
 public:
  explicit Guest(std::shared_ptr<InterpreterCore> core) noexcept : core_(std::move(core)) {
    if (core_) core_->guestComes();
  }
  Guest(Guest&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  Guest& operator=(Guest&&) = delete;
  ~Guest() {
    if (core_) core_->guestLeaves();
  }

  const std::shared_ptr<InterpreterCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<InterpreterCore> core_;
};

class Seat {
 public:
  explicit Seat(std::shared_ptr<InterpreterCore> core = nullptr) noexcept
      : core_(std::move(core)) {}

  /// Null: there is none.
  std::shared_ptr<InterpreterCore> core() const noexcept {
    const base::Lock lock(mutex_);
    return core_;
  }
  Guest guest() const noexcept {
    const base::Lock lock(mutex_);
    return Guest(core_);
  }
  std::shared_ptr<InterpreterCore> exchange(std::shared_ptr<InterpreterCore> core) noexcept {
    const base::Lock lock(mutex_);
    core_.swap(core);
    return core;
  }

 private:
  mutable base::Mutex mutex_;
  std::shared_ptr<InterpreterCore> core_ MULTIPY_GUARDED_BY(mutex_);
};

}  // namespace multipy::runtime
