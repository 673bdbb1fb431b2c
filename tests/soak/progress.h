// The lines that a soak prints while it runs, and what it has seen of memory.
//
// Threads: one.
#pragma once

#include <chrono>
#include <vector>

#include "memory.h"
#include "tally.h"

namespace multipy::soak {

class Progress {
 public:
  explicit Progress(const Tally& tally) : tally_(tally) {}

  /// Takes a sample and prints a line to stdout.
  void line();
  const std::vector<Sample>& samples() const noexcept { return samples_; }
  double seconds() const;  // since the start

 private:
  using Clock = std::chrono::steady_clock;

  const Tally& tally_;
  const Clock::time_point start_ = Clock::now();
  double lastSeconds_ = 0;
  long lastDone_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace multipy::soak
