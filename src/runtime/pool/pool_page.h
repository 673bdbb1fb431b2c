// A pool's figures as a page of text, for a terminal: what `multipy top` shows.
//
// Threads: plain functions.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "multipy/runtime/pool_stats.h"

namespace multipy::runtime {

struct PoolMoment {  // what is known of a pool at one time
  PoolStats stats;
  PoolHealth health;
  std::chrono::steady_clock::time_point when;
};

/// `before`: the rates are of the time since; null: there are none yet.
std::string poolPage(const PoolMoment& now, const PoolMoment* before);

/// The bound under which so large a part (0 to 1) of what has been counted lies, in seconds.
/// Nothing: none has been counted, or it lies above the last bound.
std::optional<double> quantile(const DurationHistogram& histogram, double part);

}  // namespace multipy::runtime
