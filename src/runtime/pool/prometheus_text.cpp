// PoolStats in the text format that Prometheus reads
// (prometheus.io/docs/instrumenting/exposition_formats).
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "multipy/runtime/pool_stats.h"
#include "runtime/pool/figure_names.h"

namespace multipy::runtime {
namespace {

std::string number(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string labelValue(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return text + "\"";
}

class Page {
 public:
  explicit Page(std::string_view pool) : pool_("pool=" + labelValue(pool)) {}

  void metric(const std::string& name, const char* type, const char* help) {
    name_ = "multipy_" + name;
    text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
  }
  void sample(const std::string& labels, double value, const char* suffix = "") {
    text_ += name_ + suffix + "{" + pool_ + (labels.empty() ? "" : ",") + labels + "} " +
             number(value) + "\n";
  }
  void histogram(const DurationHistogram& histogram) {
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < DurationHistogram::kBounds.size(); ++i) {
      cumulative += histogram.counts[i];
      sample("le=\"" + number(DurationHistogram::kBounds[i]) + "\"",
             static_cast<double>(cumulative), "_bucket");
    }
    sample("le=\"+Inf\"", static_cast<double>(histogram.total()), "_bucket");
    sample("", std::chrono::duration<double>(histogram.sum).count(), "_sum");
    sample("", static_cast<double>(histogram.total()), "_count");
  }
  std::string take() && { return std::move(text_); }

 private:
  const std::string pool_;
  std::string name_, text_;
};

// In place of the number: those that are not there any more.
constexpr const char* kRetired = "interpreter=\"retired\"";

std::string interpreterLabel(const InterpreterStats& stats) {
  return "interpreter=\"" + std::to_string(stats.interpreter) + "\"";
}

void addInterpreters(Page& page, const PoolStats& stats) {
  page.metric("interpreters", "gauge", "Interpreters of the pool.");
  for (const auto state :
       {InterpreterState::Serving, InterpreterState::Leaving, InterpreterState::Condemned}) {
    const auto isIn = [state](const InterpreterStats& each) { return each.state == state; };
    page.sample(std::string("state=\"") + nameOf(state) + "\"",
                static_cast<double>(std::ranges::count_if(stats.interpreters, isIn)));
  }
  page.metric("heap_bytes", "gauge", "CPython's memory in an interpreter.");
  for (const auto& each : stats.interpreters)
    page.sample(interpreterLabel(each), static_cast<double>(each.heapBytes));
  page.metric("users", "gauge", "Calls and sessions that have an interpreter now.");
  for (const auto& each : stats.interpreters)
    page.sample(interpreterLabel(each), static_cast<double>(each.users));
  page.metric("broken", "gauge", "1: the interpreter is of no use any more.");
  for (const auto& each : stats.interpreters)
    page.sample(interpreterLabel(each), each.whyBroken.empty() ? 0 : 1);
  page.metric("longest_call_seconds", "gauge",
              "Age of the call that has been under way for longest.");
  for (const auto& each : stats.interpreters) {
    double longest = 0;
    for (const RunningCallFigures& call : each.running)
      longest = std::max(longest, std::chrono::duration<double>(call.age).count());
    page.sample(interpreterLabel(each), longest);
  }
  page.metric("calls_total", "counter", "Calls of objects, those under way too.");
  for (const auto& each : stats.interpreters)
    page.sample(interpreterLabel(each), static_cast<double>(each.calls));
  page.sample(kRetired, static_cast<double>(stats.callsOfRetired));
  page.metric("interrupts_total", "counter", "Calls that an interrupt was asked for.");
  std::uint64_t ofThese = 0;
  for (const auto& each : stats.interpreters) {
    ofThese += each.interrupts;
    page.sample(interpreterLabel(each), static_cast<double>(each.interrupts));
  }
  page.sample(kRetired,
              static_cast<double>(stats.interrupts - std::min(ofThese, stats.interrupts)));
  page.metric("errors_total", "counter", "Calls that ended with a Python exception.");
  for (const auto& each : stats.interpreters)
    for (const auto& [type, count] : each.errors)
      page.sample(interpreterLabel(each) + ",type=" + labelValue(type), static_cast<double>(count));
  for (const auto& [type, count] : stats.errorsOfRetired)
    page.sample(std::string(kRetired) + ",type=" + labelValue(type), static_cast<double>(count));
}

void addReplacements(Page& page, const PoolStats& stats) {
  page.metric("replacements_total", "counter", "Interpreters that have been replaced.");
  for (std::size_t i = 0; i < kReplacementReasons; ++i)
    page.sample(std::string("reason=\"") + kReplacementNames[i] + "\"",
                static_cast<double>(stats.replacements[i]));
  page.metric("failed_replacements_total", "counter",
              "Interpreters that could not be started or warmed up.");
  page.sample("", static_cast<double>(stats.failedReplacements));
  page.metric("resized_total", "counter", "Interpreters that came or went with the load.");
  page.sample("direction=\"up\"", static_cast<double>(stats.grown));
  page.sample("direction=\"down\"", static_cast<double>(stats.shrunk));
}

}  // namespace

std::string prometheusText(const PoolStats& stats, const std::string& pool) {
  Page page(pool);
  addInterpreters(page, stats);
  addReplacements(page, stats);
  page.metric("waiting", "gauge", "Calls in line.");
  constexpr const char* kNames[] = {"low", "normal", "high"};
  for (std::size_t i = 0; i < kCallPriorities; ++i)
    page.sample(std::string("priority=\"") + kNames[i] + "\"",
                static_cast<double>(stats.waiting[i]));
  page.metric("ended_calls_total", "counter", "Calls that were not made or were ended early.");
  const EndedCalls& ended = stats.ended;
  page.sample("reason=\"queue_full\",begun=\"no\"", static_cast<double>(ended.queueFull));
  page.sample("reason=\"deadline\",begun=\"no\"", static_cast<double>(ended.deadlineInLine));
  page.sample("reason=\"cancelled\",begun=\"no\"", static_cast<double>(ended.cancelledInLine));
  page.sample("reason=\"deadline\",begun=\"yes\"", static_cast<double>(ended.deadlineRunning));
  page.sample("reason=\"cancelled\",begun=\"yes\"", static_cast<double>(ended.cancelledRunning));
  page.metric("queue_time_seconds", "histogram", "How long calls were in line.");
  page.histogram(stats.queueTime);
  page.metric("gil_wait_seconds", "histogram",
              "How long calls that had an interpreter waited for its GIL.");
  page.histogram(stats.gilWait);
  page.metric("run_time_seconds", "histogram", "How long the objects' code took.");
  page.histogram(stats.runTime);
  return std::move(page).take();
}

}  // namespace multipy::runtime
