#include "pool_options.h"

#include <map>
#include <string_view>

namespace multipy::soak::pool {

const char* const kPoolUsage =
    "usage: pool_soak --packages DIR [--minutes M] [--interpreters N] [--threads T] [--seed S]\n"
    "                 [--pause MS] [--replace-every SECONDS] [--switch-every SECONDS]\n"
    "                 [--whole-torch] [--every SECONDS] [--stuck-after SECONDS]\n";

PoolSoakOptions parsePoolOptions(const std::vector<std::string>& words) {
  PoolSoakOptions options;
  using Value = const std::string&;
  using std::chrono::seconds;
  const std::map<std::string_view, OptionWithValue> withValue{
      {"--minutes", [&](Value v) { options.minutes = number("--minutes", v, 0.01); }},
      {"--interpreters", [&](Value v) { options.interpreters = number("--interpreters", v, 1); }},
      {"--threads", [&](Value v) { options.threads = number("--threads", v, 1); }},
      {"--seed", [&](Value v) { options.seed = number<std::uint64_t>("--seed", v, 1); }},
      {"--pause",
       [&](Value v) { options.pause = std::chrono::milliseconds(number("--pause", v, 0)); }},
      {"--replace-every",
       [&](Value v) { options.replaceEvery = seconds(number("--replace-every", v, 1)); }},
      {"--switch-every",
       [&](Value v) { options.switchEvery = seconds(number("--switch-every", v, 1)); }},
      {"--every", [&](Value v) { options.every = seconds(number("--every", v, 1)); }},
      {"--stuck-after",
       [&](Value v) { options.stuckAfter = seconds(number("--stuck-after", v, 1)); }},
      {"--packages", [&](Value v) { options.packages = v; }},
  };
  takeOptions(words, {{"--whole-torch", &options.wholeTorch}}, withValue);
  if (options.packages.empty()) throw UsageError("--packages is needed");
  return options;
}

}  // namespace multipy::soak::pool
