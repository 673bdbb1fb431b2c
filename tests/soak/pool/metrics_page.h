// A page in Prometheus' text format, as far as the soak looks at it.
//
// Threads: plain values.
#pragma once

#include <map>
#include <string>

namespace multipy::soak::pool {

class MetricsPage {
 public:
  /// Throws WrongAnswer for a line that cannot be read, a metric without a type, a series that
  /// comes twice, and a histogram that is none.
  explicit MetricsPage(const std::string& text);

  /// What must not fall, by name and labels: counters, and all of histograms.
  const std::map<std::string, double>& counters() const noexcept { return counters_; }

 private:
  void type(const std::string& line);
  void sample(const std::string& line);

  std::string name_, type_;  // of the metric that the lines are of
  double bucket_ = 0;        // of a histogram, the last one
  std::map<std::string, double> counters_, others_;
};

}  // namespace multipy::soak::pool
