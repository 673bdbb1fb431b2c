// What the process takes of the machine, and whether it grows.
//
// Threads: plain values and functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace multipy::soak {

struct Footprint {  // of this process, now
  double pss = 0;   // MB: pages shared with other processes count in part
  double rss = 0;   // MB
  long mappings = 0, descriptors = 0, threads = 0;
};

/// Reads /proc/self. It takes the kernel up to a second in a process of thousands of mappings.
Footprint footprint();

struct Sample {
  double seconds = 0;  // since the start
  double pss = 0;      // MB
};

/// How PSS grows, by the line of least squares through the medians of equal spans of time. (Of
/// single samples each would be much like the one before, and the interval too narrow.)
struct Growth {
  double percentPerHour = 0;  // of the line's middle
  double margin = 0;          // of the above: 95 % confidence, by Student's t
  double mbPerHour = 0;
  double percentOverAll = 0;  // from the first fifth's median to the last fifth's
  double seconds = 0;         // that were looked at
};

/// Of the samples behind the first `warmUp` seconds. All zero for fewer than ten of them.
Growth growth(const std::vector<Sample>& samples, double warmUp);

/// How long a run of this length takes to have memory for everything once: a third of it, from
/// one minute to twenty.
double warmUpSeconds(double runSeconds);

/// In words, of the samples behind `warmUp`: "PSS grows by 0.1 ± 0.2 % an hour (...)", where `what`
/// is "PSS"; or that the run was too short.
std::string growthText(const std::string& what, const Growth& growth, double warmUp);

/// Empty, or why this is too much growth.
///
/// Looked at for ten minutes or more, what counts is the hourly growth, and it is too much if even
/// the lower end of its interval is more than 2 %. A shorter run sees caches fill: there it is
/// too much if PSS has grown by more than 20 % in the time looked at.
std::string tooMuchGrowth(const Growth& growth);

}  // namespace multipy::soak
