// When an interpreter is to be replaced: its limits, what it has come to, and how long to wait
// after a replacement that failed. No clock and no interpreter in here.
//
// Threads: plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "multipy/runtime/pool_options.h"

namespace multipy::runtime {

class ReplacementRules {
 public:
  /// Zero: none.
  struct Limits {
    std::uint64_t calls = 0;
    std::chrono::nanoseconds age{0};
    std::size_t heapBytes = 0;
  };
  struct Facts {  // of one that serves
    std::uint64_t calls = 0;
    std::chrono::nanoseconds age{0};
    std::size_t heapBytes = 0;
    bool isBroken = false;
  };

  /// Throws InvalidArgument for times below zero, and a share that is none.
  explicit ReplacementRules(const ReplacementOptions& options);

  /// Of one interpreter. `random`: of its own, from 0 to 1.
  Limits limits(double random) const noexcept;
  std::optional<ReplacementReason> reason(const Facts& facts, const Limits& limits) const noexcept;
  /// Whether there are limits, for which one has to look again and again.
  bool haveLimits() const noexcept {
    return options_.afterCalls != 0 || options_.afterTime.count() != 0 ||
           options_.afterHeapBytes != 0;
  }

  /// How long after the last one of `failures` in a row until it is tried again: 1, 2, 4 ... 60 s.
  static std::chrono::seconds pause(int failures) noexcept;

 private:
  const ReplacementOptions options_;
};

}  // namespace multipy::runtime
