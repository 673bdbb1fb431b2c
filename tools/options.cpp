#include "tools/options.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "multipy/runtime/python_environment.h"

namespace multipy::tools {
namespace {

const OptionRule& ruleOf(std::string_view name, const std::vector<OptionRule>& rules) {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const OptionRule& rule) { return rule.name == name; });
  if (found != rules.end()) return *found;
  std::string known;
  for (const OptionRule& rule : rules) known += " " + std::string(rule.name);
  throw UsageError("unknown option " + std::string(name) + "; expected one of" + known);
}

}  // namespace

const std::vector<OptionRule> kEnvironmentOptions = {
    {"--python"}, {"--cache"},           {"--private"},
    {"--shared"}, {"--isolated", false}, {"--whole-torch", false}};

const std::string_view kEnvironmentHelp =
    R"(  --python PREFIX    a venv, conda environment or Python prefix
                     (default: the active one: VIRTUAL_ENV, CONDA_PREFIX)
  --cache DIRECTORY  where private copies of libraries are kept
  --private PATTERN  libraries that each interpreter has for itself, and
  --shared PATTERN   those of which the process has one; as in "libfoo*.so*";
                     the last that fits decides
  --isolated         as python -I: no PYTHON* variables, no user's site-packages
  --whole-torch      all of torch is executed by import torch, not when it is used
)";

Options::Options(const Words& words, const std::vector<OptionRule>& rules, Where where) {
  std::size_t at = 0;
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") {
      ++at;
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      if (where == Where::BeforeWords) break;
      words_.push_back(word);
      continue;
    }
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const OptionRule& rule = ruleOf(std::string_view(word).substr(0, equals), rules);
    std::string value;
    if (equals != std::string::npos) {
      if (!rule.takesValue) throw UsageError(std::string(rule.name) + " takes no value");
      value = word.substr(equals + 1);
    } else if (rule.takesValue) {
      if (++at == words.size()) throw UsageError(std::string(rule.name) + " needs a value");
      value = words[at];
    }
    given_.emplace_back(rule.name, std::move(value));
    if (rule.endsOptions) {
      ++at;
      break;
    }
  }
  words_.insert(words_.end(), words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
}

bool Options::has(std::string_view name) const {
  return std::any_of(given_.begin(), given_.end(),
                     [&](const auto& option) { return option.first == name; });
}

std::string Options::value(std::string_view name, std::string otherwise) const {
  for (const auto& [option, value] : given_)
    if (option == name) otherwise = value;
  return otherwise;
}

std::size_t Options::number(std::string_view name, std::size_t least, std::size_t otherwise) const {
  if (!has(name)) return otherwise;
  const std::string text = value(name);
  std::size_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < least)
    throw UsageError(std::string(name) + " is '" + text + "', expected a number from " +
                     std::to_string(least) + " on");
  return number;
}

runtime::InterpreterManagerOptions Options::interpreterOptions() const {
  runtime::InterpreterManagerOptions options;
  if (has("--python"))
    options.environment = std::make_shared<runtime::PythonEnvironment>(value("--python"));
  options.cacheDirectory = value("--cache");
  options.interpreters.isolated = has("--isolated");
  options.interpreters.slimTorch = !has("--whole-torch");
  // The library's first match decides, a command line's last.
  for (const auto& [option, pattern] : given_)
    if (option == "--private" || option == "--shared")
      options.isolationOverrides.insert(options.isolationOverrides.begin(),
                                        {pattern, option == "--private"});
  return options;
}

std::vector<OptionRule> withEnvironmentOptions(std::initializer_list<OptionRule> own) {
  std::vector<OptionRule> rules = own;
  rules.insert(rules.end(), kEnvironmentOptions.begin(), kEnvironmentOptions.end());
  return rules;
}

}  // namespace multipy::tools
