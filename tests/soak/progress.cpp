#include "progress.h"

#include <cstdio>

namespace multipy::soak {

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::line() {
  const double now = seconds();
  const long done = tally_.done();
  const Footprint memory = footprint();
  samples_.push_back({now, memory.pss});
  const std::string errors = tally_.errorsByType();
  const int whole = static_cast<int>(now);
  std::printf(
      "%02d:%02d:%02d  %7.0f acts/s  %10ld done  %s%s  PSS %5.0f MB  RSS %5.0f MB  mappings %ld"
      "  descriptors %ld  threads %ld\n",
      whole / 3600, whole / 60 % 60, whole % 60,
      static_cast<double>(done - lastDone_) / (now - lastSeconds_), done,
      errors.empty() ? "no errors" : "ERRORS: ", errors.c_str(), memory.pss, memory.rss,
      memory.mappings, memory.descriptors, memory.threads);
  std::fflush(stdout);
  lastSeconds_ = now;
  lastDone_ = done;
}

}  // namespace multipy::soak
