// The command line of the pool's soak.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../command_line.h"

namespace multipy::soak::pool {

struct PoolSoakOptions {
  double minutes = 10;
  int interpreters = 8;  // at most; a quarter of them at least
  int threads = 32;
  std::uint64_t seed = 0;                // 0: another one each time
  std::chrono::milliseconds pause{100};  // at most, of a thread between two calls
  std::chrono::seconds replaceEvery{3}, switchEvery{60};
  std::chrono::seconds every{10};        // a progress line
  std::chrono::seconds stuckAfter{600};  // in one call or one change
  bool wholeTorch = false;
  std::filesystem::path packages;
};

extern const char* const kPoolUsage;

/// UsageError says what is wrong.
PoolSoakOptions parsePoolOptions(const std::vector<std::string>& words);

}  // namespace multipy::soak::pool
