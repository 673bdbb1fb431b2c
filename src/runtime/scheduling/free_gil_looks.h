// Finding an interpreter whose GIL stays free: its calls sleep, read from a socket, or compute in
// long operators, and one more may go in.
//
// An interpreter is one when its GIL has been free all along each of some looks, which are longer
// than torch's short operators take, with a pause between them. More looks where several calls are
// inside: while they hand the GIL to each other it is free as well, until the one that gets it has
// been woken.
//
// Threads: one object for each call that waits, on its thread.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/cpu_pause.h"

namespace multipy::runtime {

template <class Clock = std::chrono::steady_clock>
class FreeGilLooks {
 public:
  /// Not all interpreters are looked at: the call that comes next looks at others.
  static constexpr std::size_t kMostLookedAt = 4;

  /// `first` is where it begins.
  explicit FreeGilLooks(std::size_t first) noexcept : first_(first) {}

  /// One look at some of the `limit` interpreters, some 16 us long.
  ///   glance(where)  how many calls are inside whose GIL is free just now; 0: it is held, or none
  ///                  may join there
  ///   other()        whether something better has been found meanwhile, which ends the look
  ///   join(where)    goes in where the GIL has stayed free; false: not there
  /// True if other() or join() was.
  template <class Glance, class Other, class Join>
  bool look(std::size_t limit, const Glance& glance, const Other& other, const Join& join) {
    const std::size_t n = std::min(limit, kMostLookedAt);
    std::array<std::uint64_t, kMostLookedAt> calls{};
    const auto end = Clock::now() + kLook;
    for (bool begin = true; begin || Clock::now() < end; begin = false) {
      if (!begin) spinFor(kBetweenGlances);
      if (other()) return true;
      for (std::size_t i = 0; i < n; ++i)
        if (begin || calls[i] != 0) calls[i] = glance(where(i, limit));
    }
    for (std::size_t i = 0; i < n; ++i) {
      looks_[i] = calls[i] == 0 ? 0 : looks_[i] + 1;
      if (looks_[i] < (calls[i] == 1 ? kLooksAtOne : kLooksAtSeveral)) continue;
      if (join(where(i, limit))) return true;
    }
    return false;
  }

 private:
  static constexpr std::chrono::microseconds kLook{16};
  static constexpr std::chrono::microseconds kBetweenGlances{2};
  static constexpr int kLooksAtOne = 2;
  static constexpr int kLooksAtSeveral = 4;

  int where(std::size_t i, std::size_t limit) const noexcept {
    return static_cast<int>((first_ + i) % limit);
  }
  static void spinFor(std::chrono::nanoseconds time) noexcept {
    const auto end = Clock::now() + time;
    while (Clock::now() < end) base::cpuPause();
  }

  const std::size_t first_;
  std::array<int, kMostLookedAt> looks_{};  // with the GIL free, without an exception until now
};

}  // namespace multipy::runtime
