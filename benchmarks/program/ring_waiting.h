// Waiting for a slot's turn and passing it on: the same for client and worker.
#pragma once

#include "futex.h"
#include "ring_layout.h"

namespace multipy::benchmark {

/// Waits until it is that turn. After each second without it, `goOn` says whether to
/// wait further; if not, false is returned.
template <class GoOn>
bool awaitTurn(Slot& slot, std::uint32_t turn, GoOn&& goOn) {
  for (std::uint32_t seen; (seen = slot.turn.load()) != turn;) {
    ++slot.waiters;
    futexWait(slot.turn, seen, 1);
    --slot.waiters;
    if (slot.turn.load() == seen && !goOn()) return false;
  }
  return true;
}

inline void passTurn(Slot& slot, std::uint32_t turn) {
  slot.turn.store(turn);
  // All of them: clients of several rounds may wait for different turns of one slot.
  if (slot.waiters.load() > 0) futexWake(slot.turn, INT32_MAX);
}

}  // namespace multipy::benchmark
