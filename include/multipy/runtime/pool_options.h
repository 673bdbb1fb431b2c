// What a manager does when there is more to do than its interpreters can.
//
//   InterpreterManagerOptions options;
//   options.pool.mostWaiting = 1000;                 // then QueueFullError
//   InterpreterManager manager(4, options);
//
// Threads: plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "multipy/runtime/call_options.h"

namespace multipy::runtime {

struct PoolOptions {
  /// How many calls may wait in line. One more is refused with QueueFullError. Zero: a call that
  /// finds no interpreter does not wait.
  std::size_t mostWaiting = SIZE_MAX;
  /// The same of each priority; the index is the CallPriority.
  std::array<std::size_t, kCallPriorities> mostWaitingOf{SIZE_MAX, SIZE_MAX, SIZE_MAX};
};

}  // namespace multipy::runtime
