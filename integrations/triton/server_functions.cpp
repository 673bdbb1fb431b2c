// The functions for a model's own metrics, and for the server's models.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "integrations/triton/metrics.h"
#include "integrations/triton/model_control.h"
#include "integrations/triton/numbered.h"
#include "integrations/triton/python_functions.h"
#include "integrations/triton/rows.h"

namespace multipy::triton {
namespace {

// (Never destroyed: Python's threads may still ask when the process ends.)
Numbered<MetricFamily>& families() {
  static auto* const all = new Numbered<MetricFamily>("the MetricFamily");
  return *all;
}

Numbered<Metric>& metrics() {
  static auto* const all = new Numbered<Metric>("the Metric");
  return *all;
}

// u32 how many, then twice as many texts.
std::vector<std::pair<std::string, std::string>> readPairs(std::string_view bytes) {
  RowReader in(bytes);
  std::vector<std::pair<std::string, std::string>> out(in.number<std::uint32_t>());
  for (auto& [key, value] : out) {
    key = in.text();
    value = in.text();
  }
  in.end();
  return out;
}

// --- each is what the Python function of its name calls

const char* makeFamily(int kind, const char* name, const char* description,
                       std::uint64_t* number) noexcept {
  return told([&] {
    *number = families().add(std::make_shared<MetricFamily>(
        static_cast<TRITONSERVER_MetricKind>(kind), name, description));
  });
}

const char* makeMetric(std::uint64_t family, const char* labels, std::uint64_t size,
                       const double* buckets, std::uint64_t count, std::uint64_t* number) noexcept {
  return told([&] {
    *number = metrics().add(
        std::make_shared<Metric>(families().get(family), readPairs(std::string_view(labels, size)),
                                 std::vector<double>(buckets, buckets + count)));
  });
}

const char* incrementMetric(std::uint64_t number, double value) noexcept {
  return told([&] { metrics().get(number)->increment(value); });
}

const char* setMetric(std::uint64_t number, double value) noexcept {
  return told([&] { metrics().get(number)->set(value); });
}

const char* observeMetric(std::uint64_t number, double value) noexcept {
  return told([&] { metrics().get(number)->observe(value); });
}

const char* metricValue(std::uint64_t number, double* value) noexcept {
  return told([&] { *value = metrics().get(number)->value(); });
}

void dropMetric(std::uint64_t number) noexcept { metrics().take(number); }

void dropFamily(std::uint64_t number) noexcept { families().take(number); }

const char* loadModelAs(TRITONSERVER_Server* server, const char* name, const char* config,
                        const char* files, std::uint64_t size) noexcept {
  return told([&] { loadModel(server, name, config, readPairs(std::string_view(files, size))); });
}

const char* unloadModelOf(TRITONSERVER_Server* server, const char* name,
                          int withDependents) noexcept {
  return told([&] { unloadModel(server, name, withDependents != 0); });
}

const char* modelIsReady(TRITONSERVER_Server* server, const char* name, std::int64_t version,
                         int* ready) noexcept {
  return told([&] { *ready = isModelReady(server, name, version) ? 1 : 0; });
}

}  // namespace

FunctionTable serverFunctions() {
  return {named("make_family", makeFamily),           named("make_metric", makeMetric),
          named("increment_metric", incrementMetric), named("set_metric", setMetric),
          named("observe_metric", observeMetric),     named("metric_value", metricValue),
          named("drop_metric", dropMetric),           named("drop_family", dropFamily),
          named("load_model", loadModelAs),           named("unload_model", unloadModelOf),
          named("model_is_ready", modelIsReady)};
}

}  // namespace multipy::triton
