// Random choices of one act, all of them from one seed, which is printed if it fails.
//
// Threads: one thread an object.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <random>
#include <string>

namespace multipy::soak {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }
  /// From `low` to `high`, both of them included.
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool chance(int percent) { return number(1, 100) <= percent; }
  /// Words of several scripts, of one to four bytes a character, and null characters.
  std::string text(int words);
  /// Multiples of 1/8 from -1 to 1: sums and products of few of them are exact.
  at::Tensor tensor(at::IntArrayRef sizes);

 private:
  std::mt19937_64 engine_;
};

}  // namespace multipy::soak
