#include "runtime/pool/replacement_rules.h"

#include <algorithm>
#include <string>

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {

ReplacementRules::ReplacementRules(const ReplacementOptions& options) : options_(options) {
  const auto refuse = [](const std::string& what) {
    throw InvalidArgument("InterpreterManager: ReplacementOptions: " + what);
  };
  if (options.afterTime.count() < 0) refuse("`afterTime` is below zero, expected zero or more");
  if (options.grace.count() < 0) refuse("`grace` is below zero, expected zero or more");
  if (!(options.jitter >= 0 && options.jitter <= 1))
    refuse("`jitter` is " + std::to_string(options.jitter) + ", expected 0 to 1");
}

ReplacementRules::Limits ReplacementRules::limits(double random) const noexcept {
  const double share = 1 - options_.jitter * std::clamp(random, 0.0, 1.0);
  // A limit that was given stays one.
  const auto lowered = [&](auto limit) {
    return limit == 0 ? limit
                      : std::max(static_cast<decltype(limit)>(static_cast<double>(limit) * share),
                                 static_cast<decltype(limit)>(1));
  };
  return {.calls = lowered(options_.afterCalls),
          .age = std::chrono::nanoseconds(lowered(options_.afterTime.count())),
          .heapBytes = lowered(options_.afterHeapBytes)};
}

std::optional<ReplacementReason> ReplacementRules::reason(const Facts& facts,
                                                          const Limits& limits) const noexcept {
  if (facts.isBroken && options_.whenBroken) return ReplacementReason::Broken;
  if (limits.calls != 0 && facts.calls >= limits.calls) return ReplacementReason::Calls;
  if (limits.age.count() != 0 && facts.age >= limits.age) return ReplacementReason::Age;
  if (limits.heapBytes != 0 && facts.heapBytes >= limits.heapBytes) return ReplacementReason::Heap;
  return std::nullopt;
}

std::chrono::seconds ReplacementRules::pause(int failures) noexcept {
  constexpr int kLongest = 60;
  return std::chrono::seconds(failures < 7 ? std::min(1 << std::max(failures - 1, 0), kLongest)
                                           : kLongest);
}

}  // namespace multipy::runtime
