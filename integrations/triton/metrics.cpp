#include "integrations/triton/metrics.h"

#include "integrations/triton/errors.h"
#include "integrations/triton/owned_parameter.h"

namespace multipy::triton {
namespace {

struct DeleteArguments {
  void operator()(TRITONSERVER_MetricArgs* arguments) const noexcept {
    logIfError(TRITONSERVER_MetricArgsDelete(arguments), "delete a metric's arguments");
  }
};
using OwnedArguments = std::unique_ptr<TRITONSERVER_MetricArgs, DeleteArguments>;

OwnedArguments argumentsFor(TRITONSERVER_MetricFamily* family, const std::vector<double>& buckets) {
  TRITONSERVER_MetricKind kind = TRITONSERVER_METRIC_KIND_COUNTER;
  check(TRITONSERVER_GetMetricFamilyKind(family, &kind), "get a metric's kind");
  if (kind != TRITONSERVER_METRIC_KIND_HISTOGRAM) {
    if (buckets.empty()) return nullptr;
    throw TritonError(TRITONSERVER_ERROR_INVALID_ARG, "only a histogram has buckets");
  }
  TRITONSERVER_MetricArgs* made = nullptr;
  check(TRITONSERVER_MetricArgsNew(&made), "make a metric's arguments");
  OwnedArguments arguments(made);
  check(TRITONSERVER_MetricArgsSetHistogram(made, buckets.data(), buckets.size()),
        "set a histogram's buckets");
  return arguments;
}

}  // namespace

MetricFamily::MetricFamily(TRITONSERVER_MetricKind kind, const std::string& name,
                           const std::string& description) {
  check(TRITONSERVER_MetricFamilyNew(&family_, kind, name.c_str(), description.c_str()),
        "make a family of metrics");
}

MetricFamily::~MetricFamily() {
  logIfError(TRITONSERVER_MetricFamilyDelete(family_), "delete a family of metrics");
}

Metric::Metric(std::shared_ptr<MetricFamily> family, const Labels& labels,
               const std::vector<double>& buckets)
    : family_(std::move(family)) {
  std::vector<OwnedParameter> owned;
  std::vector<const TRITONSERVER_Parameter*> given;
  for (const auto& [key, value] : labels) {
    owned.emplace_back(
        TRITONSERVER_ParameterNew(key.c_str(), TRITONSERVER_PARAMETER_STRING, value.c_str()));
    given.push_back(owned.back().get());
  }
  const OwnedArguments arguments = argumentsFor(family_->get(), buckets);
  check(TRITONSERVER_MetricNewWithArgs(&metric_, family_->get(), given.data(), given.size(),
                                       arguments.get()),
        "make a metric");
}

Metric::~Metric() { logIfError(TRITONSERVER_MetricDelete(metric_), "delete a metric"); }

void Metric::increment(double value) {
  check(TRITONSERVER_MetricIncrement(metric_, value), "increment a metric's value");
}

void Metric::set(double value) {
  check(TRITONSERVER_MetricSet(metric_, value), "set a metric's value");
}

void Metric::observe(double value) {
  check(TRITONSERVER_MetricObserve(metric_, value), "observe a metric's value");
}

double Metric::value() const {
  double value = 0;
  check(TRITONSERVER_MetricValue(metric_, &value), "get a metric's value");
  return value;
}

}  // namespace multipy::triton
