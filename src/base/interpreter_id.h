// Which interpreter: one of those that the process may have, or one of the three that stand for
// something else.
//
//   none()      C++, or no interpreter at all: a thread outside, a tensor that C++ made
//   program()   the Python that the program itself is, or has, where torch is to work in it as well
//               (torch_bridge/program_python.h). It counts as an interpreter.
//   resident()  the copy of libtorch_python that stays loaded and has no interpreter
//               (runtime/interpreter/resident_copy.h)
//
// An interpreter that starts is given the lowest number that is free: the number says which of
// those that live now, and is used again.
#pragma once

#include <compare>

namespace multipy {

class InterpreterId {
 public:
  /// Numbers below this one are interpreters; the last is program()'s.
  static constexpr int kMost = 256;

  /// none()
  constexpr InterpreterId() = default;
  /// `number` is 0 to kMost - 1.
  constexpr explicit InterpreterId(int number) noexcept : number_(number) {}

  static constexpr InterpreterId none() noexcept { return InterpreterId(); }
  static constexpr InterpreterId program() noexcept { return InterpreterId(kMost - 1); }
  static constexpr InterpreterId resident() noexcept { return InterpreterId(kMost); }

  constexpr bool isInterpreter() const noexcept { return number_ >= 0 && number_ < kMost; }
  /// For names, messages and indices; of none() -1, of resident() kMost.
  constexpr int number() const noexcept { return number_; }

  friend constexpr auto operator<=>(InterpreterId, InterpreterId) = default;

 private:
  int number_ = -1;
};

}  // namespace multipy
