#include "metrics_page.h"

#include <cstdlib>
#include <sstream>

#include "../checks.h"

namespace multipy::soak::pool {

MetricsPage::MetricsPage(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE "))
      type(line);
    else if (!line.starts_with("# HELP "))
      sample(line);
  }
  expect(!counters_.empty(), "the page has counters");
}

void MetricsPage::type(const std::string& line) {
  std::istringstream words(line);
  std::string hash, keyword;
  words >> hash >> keyword >> name_ >> type_;
  expect(type_ == "counter" || type_ == "gauge" || type_ == "histogram", line);
  bucket_ = 0;
}

void MetricsPage::sample(const std::string& line) {
  const auto space = line.rfind(' ');
  expect(space != std::string::npos && !name_.empty() && line.starts_with(name_), line);
  const std::string series = line.substr(0, space), number = line.substr(space + 1);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  expect(!number.empty() && *end == '\0' && value >= 0, line);
  auto& all = type_ == "gauge" ? others_ : counters_;
  expect(all.emplace(series, value).second, "once in the page: " + line);
  if (series.starts_with(name_ + "_bucket") || series.starts_with(name_ + "_count")) {
    // Cumulative, and the count is that of all.
    expect(series.starts_with(name_ + "_count") ? value == bucket_ : value >= bucket_, line);
    bucket_ = value;
  }
}

}  // namespace multipy::soak::pool
