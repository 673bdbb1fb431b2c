// multipy: looks at, and tries out, what the library does with an environment.
#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <iostream>

#include "multipy/runtime/Exception.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools_config.h"

namespace {

using namespace multipy::tools;

constexpr std::array kCommands = {&kDoctorCommand,  &kRunCommand,   &kReplCommand,
                                  &kExplainCommand, &kCacheCommand, &kTopCommand};

void printHelp(std::ostream& out) {
  out << "usage: multipy <command> [options]\n\n"
         "Private Python interpreters in one process.\n\n";
  for (const Command* command : kCommands)
    out << "  " << command->name << std::string(9 - command->name.size(), ' ') << command->summary
        << "\n";
  out << "\nmultipy <command> --help tells more; multipy --version tells the version.\n"
         "Exit codes: 0 done, 1 failed, 2 not understood.\n";
}

bool asksForHelp(const std::string& word) { return word == "--help" || word == "-h"; }

int runCommand(const Command& command, const Words& words) {
  // Behind the first word that is no option it may be a script's.
  for (const std::string& word : words) {
    if (asksForHelp(word)) {
      std::cout << command.help;
      if (command.makesInterpreters)
        std::cout << "\nIn which Python, and what is private there:\n" << kEnvironmentHelp;
      return kDone;
    }
    if (!word.starts_with("-")) break;
  }
  // As in python: to write what is not read, or too much, is an error there and not the end.
  if (command.makesInterpreters)
    for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
  try {
    return command.run(words);
  } catch (const UsageError& error) {
    std::cerr << "multipy " << command.name << ": " << error.what() << "\nmultipy " << command.name
              << " --help tells how it is used\n";
    return kWrongUsage;
  } catch (const multipy::runtime::PythonException& error) {
    // Its traceback shows our own Python code only.
    std::cerr << "multipy " << command.name << ": " << error.message() << "\n";
    return kFailed;
  } catch (const std::exception& error) {
    std::cerr << "multipy " << command.name << ": " << error.what() << "\n";
    return kFailed;
  }
}

}  // namespace

int main(int count, char** arguments) {
  const Words words(arguments + std::min(count, 1), arguments + count);
  if (words.empty()) {
    printHelp(std::cerr);
    return kWrongUsage;
  }
  if (asksForHelp(words[0])) {
    printHelp(std::cout);
    return kDone;
  }
  if (words[0] == "--version") {
    std::cout << "multipy " << MULTIPY_VERSION << "\n";
    return kDone;
  }
  for (const Command* command : kCommands)
    if (command->name == words[0]) return runCommand(*command, {words.begin() + 1, words.end()});
  std::cerr << "multipy: unknown command '" << words[0] << "'\n";
  printHelp(std::cerr);
  return kWrongUsage;
}
