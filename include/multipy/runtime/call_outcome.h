// What a call came to: a value, or what it threw.
//
// Threads: a plain value.
#pragma once

#include <ATen/core/ivalue.h>

#include <exception>
#include <utility>

namespace multipy::runtime {

class CallOutcome {
 public:
  explicit CallOutcome(at::IValue value) noexcept : value_(std::move(value)) {}
  explicit CallOutcome(std::exception_ptr error) noexcept : error_(std::move(error)) {}

  /// Whether it threw.
  bool failed() const noexcept { return error_ != nullptr; }
  const std::exception_ptr& error() const noexcept { return error_; }  // null if there is a value
  /// The value; throws what the call threw.
  at::IValue get() && {
    if (error_) std::rethrow_exception(error_);
    return std::move(value_);
  }
  const at::IValue& get() const& {
    if (error_) std::rethrow_exception(error_);
    return value_;
  }

 private:
  at::IValue value_;
  std::exception_ptr error_;
};

}  // namespace multipy::runtime
