// Whether a pool is to have more interpreters, or fewer. No clock and no interpreter in here.
//
// Threads: plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "multipy/runtime/pool_options.h"

namespace multipy::runtime {

class SizingRules {
 public:
  struct Facts {
    std::size_t interpreters = 0;                    // that serve, or are about to
    std::optional<std::chrono::nanoseconds> waited;  // of the calls in line, the longest wait
    std::chrono::nanoseconds sinceChange{0};         // since their number was another one
    std::size_t idle = 0;  // that have had no call or session for as long as shrinkAfter()
  };

  /// InvalidArgument where the options contradict each other, or a pool of `n` interpreters that
  /// can have up to `places`.
  SizingRules(const SizingOptions& options, std::size_t n, std::size_t places);

  bool areOn() const noexcept { return grows() || shrinks(); }
  std::chrono::nanoseconds shrinkAfter() const noexcept { return options_.shrinkAfter; }
  /// How many there are to be.
  std::size_t wanted(const Facts& facts) const noexcept;

 private:
  bool grows() const noexcept { return options_.growAfter.count() > 0; }
  bool shrinks() const noexcept { return options_.shrinkAfter.count() > 0; }

  const SizingOptions options_;
};

}  // namespace multipy::runtime
