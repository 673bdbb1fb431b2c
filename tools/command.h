// The sub-commands of `multipy`, each in a file of its own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace multipy::tools {

using Words = std::vector<std::string>;

/// What the shell gets.
enum ExitCode { kDone = 0, kFailed = 1, kWrongUsage = 2 };

struct Command {
  std::string_view name;
  std::string_view summary;  // a line of `multipy --help`
  std::string_view help;     // `multipy <name> --help`
  bool makesInterpreters;    // and so takes kEnvironmentOptions
  /// With the words behind the command's name. Throws UsageError, and what the library
  /// throws.
  int (*run)(const Words& words);
};

extern const Command kCacheCommand;
extern const Command kDoctorCommand;
extern const Command kExplainCommand;
extern const Command kReplCommand;
extern const Command kRunCommand;
extern const Command kTopCommand;

}  // namespace multipy::tools
