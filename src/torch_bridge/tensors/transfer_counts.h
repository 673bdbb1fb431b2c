// How much has crossed, for statistics(). Every crossing changes these numbers, so
// each thread has its own, which it writes without a locked instruction, and whoever
// asks adds them up.
//
// Threads: all functions from any thread.
#pragma once

namespace multipy::routing {

/// Tensors that have crossed.
void countCrossing() noexcept;
/// Storages that hold another's bytes: made (1) and gone (-1).
void countLive(long change) noexcept;

struct HandoffSums {
  long crossings = 0, live = 0;
};
HandoffSums handoffSums() noexcept;

}  // namespace multipy::routing
