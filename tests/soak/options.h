// The command line of the soak.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "acts.h"
#include "command_line.h"

namespace multipy::soak {

struct Options {
  double minutes = 10;
  int interpreters = 8;
  int threads = 32;
  std::uint64_t seed = 0;  // 0: another one each time
  bool warm = false;
  bool list = false;
  std::chrono::seconds every{10};          // a progress line
  std::chrono::seconds stuckAfter{600};    // in one act: a cold start of 64 takes 200 on two cores
  std::vector<std::string> only, without;  // acts, or topics
  std::filesystem::path packages, modules;
};

extern const char* const kUsage;

/// UsageError says what is wrong.
Options parse(const std::vector<std::string>& words);

/// Those of `acts` that --only and --without leave. UsageError for a name that none has.
Acts chosenActs(const Acts& acts, const Options& options);

}  // namespace multipy::soak
