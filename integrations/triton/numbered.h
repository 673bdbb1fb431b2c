// Objects that Python knows by number: one of nothing, or of what has gone, is an error there and
// not a use of freed memory. Numbers are never used again.
//
// Threads: every member from any thread. What is taken out is dropped by who takes it, without any
// lock held.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "integrations/triton/errors.h"

namespace multipy::triton {

template <typename Held>
class Numbered {
 public:
  /// `what` they are, for errors: "the metric".
  explicit Numbered(std::string what) : what_(std::move(what)) {}

  std::uint64_t add(std::shared_ptr<Held> held) {
    const std::lock_guard lock(mutex_);
    all_.emplace(last_ + 1, std::move(held));
    return ++last_;
  }

  /// Null where there is none.
  std::shared_ptr<Held> find(std::uint64_t number) const noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(number);
    return found == all_.end() ? nullptr : found->second;
  }

  /// TritonError (INTERNAL) where there is none.
  std::shared_ptr<Held> get(std::uint64_t number) const {
    if (auto found = find(number)) return found;
    throw TritonError(TRITONSERVER_ERROR_INTERNAL, what_ + " has gone");
  }

  /// Null where there is none.
  std::shared_ptr<Held> take(std::uint64_t number) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(number);
    if (found == all_.end()) return nullptr;
    std::shared_ptr<Held> held = std::move(found->second);
    all_.erase(found);
    return held;
  }

 private:
  const std::string what_;
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<Held>> all_;
};

}  // namespace multipy::triton
