// What the Python worker (rivals/ring_worker.py) needs of the ring, called through
// ctypes: a library with neither torch nor Python in it.
#include <signal.h>
#include <sys/prctl.h>

#include "ring_waiting.h"

using namespace multipy::benchmark;

extern "C" {

/// The worker ends when its client does, however that came about.
void ring_begin() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

/// Waits for request `ticket`: its slot, or -1 when the worker is to end.
int ring_wait(Ring* ring, std::uint64_t ticket) {
  const int slot = static_cast<int>(ticket % kSlots);
  const auto goOn = [&] { return ring->stop.load() == 0; };
  return awaitTurn(ring->slots[slot], askedTurn(ticket), goOn) ? slot : -1;
}

void ring_answered(Ring* ring, std::uint64_t ticket) {
  passTurn(ring->slots[ticket % kSlots], answeredTurn(ticket));
}

int ring_slots() { return kSlots; }
std::size_t ring_request(int slot) {
  return offsetof(Ring, slots) + slot * sizeof(Slot) + offsetof(Slot, request);
}
std::size_t ring_answer(int slot) {
  return offsetof(Ring, slots) + slot * sizeof(Slot) + offsetof(Slot, answer);
}
std::size_t ring_message_bytes() { return sizeof(Message); }
}
