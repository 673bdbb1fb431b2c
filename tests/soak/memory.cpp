#include "memory.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string_view>

namespace multipy::soak {
namespace {

constexpr std::size_t kFewest = 10;  // samples to speak of growth
constexpr double kJudgedSeconds = 600;
constexpr double kPercentPerHour = 2, kPercentOverAll = 20;

/// The number behind `key` in a file of lines like `Rss:   123 kB`.
double numberOf(const char* path, std::string_view key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with(key)) return std::stod(line.substr(key.size()));
  throw std::runtime_error(std::string(path) + " has no " + std::string(key));
}

long linesOf(const char* path) {
  std::ifstream file(path);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

struct Points {
  std::vector<double> x, y;  // seconds, MB
};

/// Each the median of one of `count` equal parts of the samples.
Points medians(const std::vector<Sample>& samples, std::size_t count) {
  Points points;
  for (std::size_t part = 0; part < count; ++part) {
    std::vector<double> x, y;
    for (std::size_t i = part * samples.size() / count; i < (part + 1) * samples.size() / count;
         ++i) {
      x.push_back(samples[i].seconds);
      y.push_back(samples[i].pss);
    }
    points.x.push_back(median(std::move(x)));
    points.y.push_back(median(std::move(y)));
  }
  return points;
}

double mean(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

struct Line {
  double middle = 0, slope = 0, slopeError = 0;
};

Line leastSquares(const Points& points) {
  const double meanX = mean(points.x), meanY = mean(points.y);
  double xx = 0, xy = 0, residuals = 0;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    xx += (points.x[i] - meanX) * (points.x[i] - meanX);
    xy += (points.x[i] - meanX) * (points.y[i] - meanY);
  }
  const double slope = xy / xx;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    const double residual = points.y[i] - meanY - slope * (points.x[i] - meanX);
    residuals += residual * residual;
  }
  return {meanY, slope, std::sqrt(residuals / static_cast<double>(points.x.size() - 2) / xx)};
}

/// Student's t for 95 % on both sides, of 8 to 18 degrees of freedom.
double studentsT(std::size_t degrees) {
  static constexpr std::array kT{2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
                                 2.145, 2.131, 2.120, 2.110, 2.101};
  return kT[std::clamp<std::size_t>(degrees, 8, 18) - 8];
}

}  // namespace

Footprint footprint() {
  Footprint now;
  now.pss = numberOf("/proc/self/smaps_rollup", "Pss:") / 1024;
  now.rss = numberOf("/proc/self/status", "VmRSS:") / 1024;
  now.threads = static_cast<long>(numberOf("/proc/self/status", "Threads:"));
  now.mappings = linesOf("/proc/self/maps");
  now.descriptors = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  return now;
}

Growth growth(const std::vector<Sample>& samples, double warmUp) {
  std::vector<Sample> warm;
  std::ranges::copy_if(samples, std::back_inserter(warm),
                       [&](const Sample& sample) { return sample.seconds >= warmUp; });
  if (warm.size() < kFewest) return {};
  const Points points = medians(warm, std::min<std::size_t>(warm.size(), 20));
  const Line line = leastSquares(points);
  const double percent = 100 * 3600 / line.middle;
  const Points fifths = medians(warm, 5);
  return {.percentPerHour = line.slope * percent,
          .margin = line.slopeError * studentsT(points.x.size() - 2) * percent,
          .mbPerHour = line.slope * 3600,
          .percentOverAll = 100 * (fifths.y.back() / fifths.y.front() - 1),
          .seconds = warm.back().seconds - warm.front().seconds};
}

double warmUpSeconds(double runSeconds) { return std::clamp(runSeconds / 3, 60.0, 1200.0); }

std::string growthText(const std::string& what, const Growth& growth, double warmUp) {
  if (growth.seconds == 0) return "too short to say whether memory grows";
  char text[256];
  std::snprintf(text, sizeof text,
                "%s grows by %.1f ± %.1f %% an hour (%.0f MB an hour; %.1f %% in the %.0f s looked "
                "at, behind a warm-up of %.0f s)",
                what.c_str(), growth.percentPerHour, growth.margin, growth.mbPerHour,
                growth.percentOverAll, growth.seconds, warmUp);
  return text;
}

std::string tooMuchGrowth(const Growth& growth) {
  char text[160] = "";
  if (growth.seconds >= kJudgedSeconds) {
    if (growth.percentPerHour - growth.margin > kPercentPerHour)
      std::snprintf(text, sizeof text,
                    "PSS grows by %.1f ± %.1f %% an hour, expected at most %.0f %%",
                    growth.percentPerHour, growth.margin, kPercentPerHour);
  } else if (growth.percentOverAll > kPercentOverAll) {
    std::snprintf(text, sizeof text, "PSS has grown by %.0f %% in %.0f s, expected at most %.0f %%",
                  growth.percentOverAll, growth.seconds, kPercentOverAll);
  }
  return text;
}

}  // namespace multipy::soak
