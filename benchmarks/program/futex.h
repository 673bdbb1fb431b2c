// Waiting on a word of memory, also on one that processes share.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace multipy::benchmark {

constexpr int kForEver = -1;

/// Returns at a wake, after `seconds`, at once if the word is not `expected` (any more),
/// or for no reason: the caller looks again.
inline void futexWait(std::atomic<std::uint32_t>& word, std::uint32_t expected, int seconds) {
  const timespec timeout{seconds, 0};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, seconds == kForEver ? nullptr : &timeout, nullptr,
          0);
}

inline void futexWake(std::atomic<std::uint32_t>& word, int threads) {
  syscall(SYS_futex, &word, FUTEX_WAKE, threads, nullptr, nullptr, 0);
}

}  // namespace multipy::benchmark
