// A value for each interpreter that the process may have.
//
// Threads: those of the values; the table itself never changes.
#pragma once

#include <array>
#include <cstddef>

#include "base/interpreter_id.h"

namespace multipy {

template <typename Value>
class PerInterpreter {
 public:
  /// Of an interpreter.
  Value& operator[](InterpreterId id) noexcept {
    return all_[static_cast<std::size_t>(id.number())];
  }
  const Value& operator[](InterpreterId id) const noexcept {
    return all_[static_cast<std::size_t>(id.number())];
  }
  /// Null where `id` is none.
  Value* find(InterpreterId id) noexcept { return id.isInterpreter() ? &(*this)[id] : nullptr; }
  const Value* find(InterpreterId id) const noexcept {
    return id.isInterpreter() ? &(*this)[id] : nullptr;
  }

  auto begin() noexcept { return all_.begin(); }
  auto end() noexcept { return all_.end(); }
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

 private:
  std::array<Value, InterpreterId::kMost> all_{};
};

/// The same, and one more for all else: C++ and the resident copy.
template <typename Value>
class PerInterpreterAndProcess {
 public:
  Value& operator[](InterpreterId id) noexcept {
    return all_[static_cast<std::size_t>(id.isInterpreter() ? id.number() : InterpreterId::kMost)];
  }

 private:
  std::array<Value, InterpreterId::kMost + 1> all_{};
};

/// All numbers an interpreter can have, in order: for (InterpreterId each : EveryInterpreterId()).
class EveryInterpreterId {
 public:
  class Iterator {
   public:
    explicit Iterator(int number) noexcept : number_(number) {}
    InterpreterId operator*() const noexcept { return InterpreterId(number_); }
    Iterator& operator++() noexcept {
      ++number_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    int number_;
  };

  /// Those below `end`, where the others are known to be of no account.
  explicit EveryInterpreterId(int end = InterpreterId::kMost) noexcept : end_(end) {}
  Iterator begin() const noexcept { return Iterator(0); }
  Iterator end() const noexcept { return Iterator(end_); }

 private:
  int end_;
};

}  // namespace multipy
