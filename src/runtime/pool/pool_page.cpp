#include "runtime/pool/pool_page.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "runtime/pool/figure_names.h"

namespace multipy::runtime {
namespace {

using Seconds = std::chrono::duration<double>;

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[256];
  const int length = std::snprintf(text, sizeof text, format, values...);
  return std::string(text,
                     std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof text - 1));
}

/// "850 us", "12 ms", "3.1 s", "2m05s", "1h02m", "3d04h".
std::string time(double seconds) {
  if (seconds < 1e-3) return formatted("%.0f us", seconds * 1e6);
  if (seconds < 1) return formatted("%.3g ms", seconds * 1e3);
  if (seconds < 60) return formatted("%.1f s", seconds);
  const auto whole = static_cast<long long>(seconds);
  if (whole < 3600) return formatted("%lldm%02llds", whole / 60, whole % 60);
  if (whole < 86400) return formatted("%lldh%02lldm", whole / 3600, whole / 60 % 60);
  return formatted("%lldd%02lldh", whole / 86400, whole / 3600 % 24);
}

std::string bytes(std::size_t n) {
  const auto value = static_cast<double>(n);
  if (value < 1e6) return formatted("%.0f kB", value / 1e3);
  return value < 1e9 ? formatted("%.1f MB", value / 1e6) : formatted("%.2f GB", value / 1e9);
}

DurationHistogram difference(const DurationHistogram& now, const DurationHistogram* before) {
  DurationHistogram result = now;
  if (!before) return result;
  for (std::size_t i = 0; i < result.counts.size(); ++i)
    result.counts[i] -= std::min(result.counts[i], before->counts[i]);
  result.sum = std::max(result.sum - before->sum, std::chrono::nanoseconds(0));
  return result;
}

/// "p50 0.25 ms, p99 25 ms": bounds of the histogram's.
std::string quantiles(const DurationHistogram& histogram) {
  const auto text = [&](double part) -> std::string {
    if (histogram.total() == 0) return "-";
    const auto bound = quantile(histogram, part);
    return bound ? "<" + time(*bound) : ">" + time(DurationHistogram::kBounds.back());
  };
  return "p50 " + text(0.5) + ", p99 " + text(0.99);
}

std::uint64_t sum(const std::map<std::string, std::uint64_t>& byType) {
  std::uint64_t all = 0;
  for (const auto& each : byType) all += each.second;
  return all;
}

std::uint64_t calls(const PoolStats& stats) {
  std::uint64_t all = stats.callsOfRetired;
  for (const InterpreterStats& each : stats.interpreters) all += each.calls;
  return all;
}

std::uint64_t errors(const PoolStats& stats) {
  std::uint64_t all = sum(stats.errorsOfRetired);
  for (const InterpreterStats& each : stats.interpreters) all += sum(each.errors);
  return all;
}

std::uint64_t ended(const PoolStats& stats) {
  const EndedCalls& ended = stats.ended;
  return ended.queueFull + ended.deadlineInLine + ended.cancelledInLine + ended.deadlineRunning +
         ended.cancelledRunning;
}

class Rates {
 public:
  Rates(const PoolMoment& now, const PoolMoment* before)
      : seconds_(before ? Seconds(now.when - before->when).count() : 0) {}
  /// "12.3/s", or "-".
  std::string of(std::uint64_t now, std::uint64_t before) const {
    if (seconds_ <= 0) return "-";
    const std::uint64_t more = now - std::min(now, before);
    return formatted("%.1f/s", static_cast<double>(more) / seconds_);
  }

 private:
  const double seconds_;
};

std::string summary(const PoolMoment& now, const PoolMoment* before) {
  const PoolStats& stats = now.stats;
  const Rates rates(now, before);
  std::size_t busy = 0, serving = 0, waiting = 0;
  for (const InterpreterStats& each : stats.interpreters) {
    serving += each.state == InterpreterState::Serving;
    busy += each.state == InterpreterState::Serving && each.users > 0;
  }
  for (const std::size_t each : stats.waiting) waiting += each;
  const PoolStats none;
  const PoolStats& earlier = before ? before->stats : none;
  std::string text = std::to_string(serving) + " interpreters, " + std::to_string(busy) +
                     " busy, " + std::to_string(waiting) + " calls waiting, " +
                     (now.health.ready ? "ready" : "NOT READY") + "\n";
  text += "calls " + rates.of(calls(stats), calls(earlier)) + " of " +
          std::to_string(calls(stats)) + ", errors " + rates.of(errors(stats), errors(earlier)) +
          ", not made or ended early " + rates.of(ended(stats), ended(earlier)) + "\n";
  const auto since = [&](DurationHistogram PoolStats::*which) {
    return quantiles(difference(stats.*which, before ? &(earlier.*which) : nullptr));
  };
  text += "in line " + since(&PoolStats::queueTime) + "; for the GIL " +
          since(&PoolStats::gilWait) + "; running " + since(&PoolStats::runTime) + "\n";
  std::uint64_t replaced = 0;
  for (const std::uint64_t each : stats.replacements) replaced += each;
  text += "replaced " + std::to_string(replaced) + ", could not be started " +
          std::to_string(stats.failedReplacements) + ", interrupts " +
          std::to_string(stats.interrupts) + ", grown " + std::to_string(stats.grown) +
          ", shrunk " + std::to_string(stats.shrunk) + "\n";
  return text;
}

std::string row(const InterpreterStats& each, const InterpreterStats* before, const Rates& rates) {
  std::string does = each.running.empty() ? (each.users > 0 ? "a session" : "") : "";
  for (const RunningCallFigures& call : each.running) {
    if (!does.empty()) does += "; ";
    does += call.model + " for " + time(Seconds(call.age).count());
  }
  if (!each.whyBroken.empty()) does = "BROKEN: " + each.whyBroken;
  std::ranges::replace(does, '\n', ' ');
  return formatted("%11d  %-9s  %7s  %9s  %7llu  %8s  ", each.interpreter, nameOf(each.state),
                   time(Seconds(each.age).count()).c_str(),
                   rates.of(each.calls, before ? before->calls : 0).c_str(),
                   static_cast<unsigned long long>(sum(each.errors)),
                   bytes(each.heapBytes).c_str()) +
         does + "\n";
}

}  // namespace

std::optional<double> quantile(const DurationHistogram& histogram, double part) {
  const double wanted = part * static_cast<double>(histogram.total());
  double counted = 0;
  for (std::size_t i = 0; i < DurationHistogram::kBounds.size(); ++i) {
    counted += static_cast<double>(histogram.counts[i]);
    if (counted > 0 && counted >= wanted) return DurationHistogram::kBounds[i];
  }
  return std::nullopt;
}

std::string poolPage(const PoolMoment& now, const PoolMoment* before) {
  const Rates rates(now, before);
  std::string text = summary(now, before);
  text += "\ninterpreter  state          age      calls   errors      heap  does\n";
  std::map<int, const InterpreterStats*> earlier;
  if (before)
    for (const InterpreterStats& each : before->stats.interpreters)
      earlier[each.interpreter] = &each;
  for (const InterpreterStats& each : now.stats.interpreters) {
    const auto found = earlier.find(each.interpreter);
    text += row(each, found == earlier.end() ? nullptr : found->second, rates);
  }
  if (!now.health.reasons.empty()) text += "\n";
  for (const std::string& reason : now.health.reasons) text += reason + "\n";
  return text;
}

}  // namespace multipy::runtime
