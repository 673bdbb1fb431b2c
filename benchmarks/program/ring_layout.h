// The memory that a client and one worker process share: a ring of slots, each with
// room for a request and its answer.
//
// Requests are numbered 0, 1, 2, ...; number t is in slot t % kSlots, in round
// t / kSlots. The slot's `turn` says how far it is:
//
//     3 * round        free: the client that drew the number t may write the request
//     3 * round + 1    asked: the worker may work
//     3 * round + 2    answered: that client may read the answer
//     3 * (round + 1)  free for the next round
//
// Each side waits for its turn with a futex on that word, and wakes only if the
// `waiters` beside it say that a thread sleeps there. The worker takes the numbers in
// order, so that it finds the next request without being woken if one has come while
// it worked.
//
// A message is a header of 64-bit numbers and then bytes. rivals/area.py reads and
// writes the same in Python.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace multipy::benchmark {

constexpr int kSlots = 4;
constexpr std::size_t kMessageBytes = 20 << 20;  // pages that are never written cost nothing
constexpr int kMaxDimensions = 6;

enum class Kind : std::int64_t { Error = 0, Tensor = 1, Number = 2, Text = 3 };

struct Message {
  Kind kind;
  std::int64_t model;       // of a request: which of the worker's models
  std::int64_t type;        // of a tensor: 0 float32, 1 int64
  std::int64_t dimensions;  // of a tensor
  std::int64_t sizes[kMaxDimensions];
  std::int64_t bytes;   // that follow; of a Text: strings, each ended by a zero
  std::int64_t number;  // of a Number
  alignas(128) unsigned char data[kMessageBytes];
};
static_assert(offsetof(Message, data) == 128);

struct Slot {
  alignas(4096) std::atomic<std::uint32_t> turn;
  std::atomic<std::uint32_t> waiters;
  alignas(4096) Message request;
  alignas(4096) Message answer;
};

struct Ring {
  std::atomic<std::uint32_t> stop;  // the worker ends
  Slot slots[kSlots];
};

// Tickets never come round, turns may.
constexpr std::uint32_t freeTurn(std::uint64_t ticket) {
  return static_cast<std::uint32_t>(3 * (ticket / kSlots));
}
constexpr std::uint32_t askedTurn(std::uint64_t ticket) { return freeTurn(ticket) + 1; }
constexpr std::uint32_t answeredTurn(std::uint64_t ticket) { return freeTurn(ticket) + 2; }

}  // namespace multipy::benchmark
