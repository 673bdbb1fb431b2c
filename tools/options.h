// Words of a command line, taken apart.
#pragma once

#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "multipy/runtime/interpreter_manager.h"
#include "tools/command.h"

namespace multipy::tools {

/// What was typed cannot be right; the text says what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct OptionRule {
  std::string_view name;     // "--shared"
  bool takesValue = true;    // "--shared X" and "--shared=X"
  bool endsOptions = false;  // what follows its value is not ours
};

/// "--python", "--cache", "--private", "--shared", "--isolated": of all commands that
/// make interpreters, or ask what these would do.
extern const std::vector<OptionRule> kEnvironmentOptions;
extern const std::string_view kEnvironmentHelp;

class Options {
 public:
  /// Options are looked for everywhere, or only before the first word that is none.
  enum class Where { Anywhere, BeforeWords };

  Options(const Words& words, const std::vector<OptionRule>& rules, Where where = Where::Anywhere);

  bool has(std::string_view name) const;
  /// The last value given; `otherwise` if there is none.
  std::string value(std::string_view name, std::string otherwise = {}) const;
  /// A number from `least` on.
  std::size_t number(std::string_view name, std::size_t least, std::size_t otherwise) const;
  const Words& words() const noexcept { return words_; }

  /// What kEnvironmentOptions say.
  runtime::InterpreterManagerOptions interpreterOptions() const;

 private:
  std::vector<std::pair<std::string, std::string>> given_;  // in the order of the line
  Words words_;
};

/// kEnvironmentOptions and those of one command.
std::vector<OptionRule> withEnvironmentOptions(std::initializer_list<OptionRule> own);

}  // namespace multipy::tools
