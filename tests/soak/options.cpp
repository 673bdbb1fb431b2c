#include "options.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace multipy::soak {
namespace {

std::vector<std::string> names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    names.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

bool isNamed(const Act& act, std::string_view name) {
  return act.name == name || act.name.starts_with(std::string(name) + ".");
}

bool isNamed(const Act& act, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const auto& name) { return isNamed(act, name); });
}

void checkNames(const Acts& acts, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (std::ranges::none_of(acts, [&](const Act& act) { return isNamed(act, name); }))
      throw UsageError("'" + name + "' is no act and no topic; --list shows them");
}

}  // namespace

const char* const kUsage =
    "usage: soak --packages DIR --modules DIR [--minutes M] [--interpreters N] [--threads T]\n"
    "            [--seed S] [--warm] [--only NAME,...] [--without NAME,...] [--every SECONDS]\n"
    "            [--stuck-after SECONDS] [--list]\n";

Options parse(const std::vector<std::string>& words) {
  Options options;
  using Value = const std::string&;
  const std::map<std::string_view, OptionWithValue> withValue{
      {"--minutes", [&](Value v) { options.minutes = number("--minutes", v, 0.01); }},
      {"--interpreters", [&](Value v) { options.interpreters = number("--interpreters", v, 1); }},
      {"--threads", [&](Value v) { options.threads = number("--threads", v, 1); }},
      {"--seed", [&](Value v) { options.seed = number<std::uint64_t>("--seed", v, 1); }},
      {"--every", [&](Value v) { options.every = std::chrono::seconds(number("--every", v, 1)); }},
      {"--stuck-after",
       [&](Value v) { options.stuckAfter = std::chrono::seconds(number("--stuck-after", v, 1)); }},
      {"--only", [&](Value v) { options.only = names(v); }},
      {"--without", [&](Value v) { options.without = names(v); }},
      {"--packages", [&](Value v) { options.packages = v; }},
      {"--modules", [&](Value v) { options.modules = v; }},
  };
  takeOptions(words, {{"--warm", &options.warm}, {"--list", &options.list}}, withValue);
  if (!options.list && (options.packages.empty() || options.modules.empty()))
    throw UsageError("--packages and --modules are needed");
  return options;
}

Acts chosenActs(const Acts& acts, const Options& options) {
  checkNames(acts, options.only);
  checkNames(acts, options.without);
  Acts chosen;
  std::ranges::copy_if(acts, std::back_inserter(chosen), [&](const Act& act) {
    return (options.only.empty() || isNamed(act, options.only)) && !isNamed(act, options.without);
  });
  if (chosen.empty()) throw UsageError("--only and --without leave no act");
  return chosen;
}

}  // namespace multipy::soak
