// The lines that a soak prints while it runs, and what it has seen of memory.
//
// Threads: one.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "memory.h"

namespace multipy::soak {

class Progress {
 public:
  struct Counts {
    long done = 0;
    std::string errors;  // by type; empty if there are none
  };
  /// `what` is done, in the plural; `counts` says how often it has been.
  Progress(std::string what, std::function<Counts()> counts)
      : what_(std::move(what)), counts_(std::move(counts)) {}

  /// Prints a line to stdout, with `more` at its end. Takes a sample of memory, unless it cannot be
  /// compared with the others.
  void line(const std::string& more = {}, bool isComparable = true);
  const std::vector<Sample>& samples() const noexcept { return samples_; }
  double seconds() const;  // since the start

 private:
  using Clock = std::chrono::steady_clock;

  const std::string what_;
  const std::function<Counts()> counts_;
  const Clock::time_point start_ = Clock::now();
  double lastSeconds_ = 0;
  long lastDone_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace multipy::soak
