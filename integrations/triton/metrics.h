// A model's own metrics (MetricFamily and Metric in Python), which the server shows with its own.
//
// The server shares what has the same name, or the same labels: each instance of a model may make
// its own, and all change one number.
//
// Threads: every member from any thread. Errors: TritonError.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integrations/triton/triton_api.h"

namespace multipy::triton {

class MetricFamily {
 public:
  MetricFamily(TRITONSERVER_MetricKind kind, const std::string& name,
               const std::string& description);
  MetricFamily(const MetricFamily&) = delete;
  MetricFamily& operator=(const MetricFamily&) = delete;
  ~MetricFamily();

  TRITONSERVER_MetricFamily* get() const noexcept { return family_; }

 private:
  TRITONSERVER_MetricFamily* family_ = nullptr;
};

class Metric {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;
  /// `buckets`: upper bounds, of a histogram; empty for the other kinds. Keeps the family.
  Metric(std::shared_ptr<MetricFamily> family, const Labels& labels,
         const std::vector<double>& buckets);
  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;
  ~Metric();

  void increment(double value);
  void set(double value);
  void observe(double value);
  double value() const;

 private:
  const std::shared_ptr<MetricFamily> family_;
  TRITONSERVER_Metric* metric_ = nullptr;
};

}  // namespace multipy::triton
