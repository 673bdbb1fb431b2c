#include "progress.h"

#include <cstdio>

namespace multipy::soak {

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::line(const std::string& more, bool isComparable) {
  const double now = seconds();
  const auto [done, errors] = counts_();
  const Footprint memory = footprint();
  if (isComparable) samples_.push_back({now, memory.pss});
  const int whole = static_cast<int>(now);
  std::printf(
      "%02d:%02d:%02d  %7.0f %s/s  %10ld done  %s%s  PSS %5.0f MB  RSS %5.0f MB  mappings %ld"
      "  descriptors %ld  threads %ld%s%s\n",
      whole / 3600, whole / 60 % 60, whole % 60,
      static_cast<double>(done - lastDone_) / (now - lastSeconds_), what_.c_str(), done,
      errors.empty() ? "no errors" : "ERRORS: ", errors.c_str(), memory.pss, memory.rss,
      memory.mappings, memory.descriptors, memory.threads, more.empty() ? "" : "  ", more.c_str());
  std::fflush(stdout);
  lastSeconds_ = now;
  lastDone_ = done;
}

}  // namespace multipy::soak
