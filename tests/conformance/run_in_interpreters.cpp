// Runs one Python module's report() in N interpreters of one process at once.
//
//   run_in_interpreters --interpreters N [--rounds R] [--whole-torch] --report DIR [--path P]...
//                       MODULE ARG...
//
// N threads, each with a session of its own interpreter, are released together;
// each imports MODULE (the --path directories are on sys.path), calls
// MODULE.report([ARG...]), which returns a str, and writes that to
// DIR/round-<r>-interpreter-<k>.json. What is raised instead goes to
// DIR/round-<r>-interpreter-<k>.error. All rounds use the same interpreters.
// {round} and {interpreter} in an ARG are replaced by r and k, for a module that
// does different things in each.
//
// Exit status: 0 if every report was made, 1 if one was not, 2 for wrong usage.
// tests/conformance/runner.py is the other side of this.
#include <ATen/core/ivalue.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_options.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/noop_environment.h>

#include <algorithm>
#include <barrier>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace multipy::runtime;
namespace fs = std::filesystem;

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Options {
  int interpreters = 0;
  int rounds = 1;
  bool slimTorch = true;
  fs::path reports;
  std::vector<std::string> paths;
  std::string module;
  std::vector<std::string> arguments;
};

int positiveNumber(std::string_view option, std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    throw UsageError(std::string(option) + " is '" + std::string(text) +
                     "', expected a number of at least 1");
  return number;
}

Options parse(const std::vector<std::string>& words) {
  Options options;
  std::size_t i = 0;
  for (; i < words.size() && words[i].starts_with("--"); i += 2) {
    const std::string& option = words[i];
    if (option == "--whole-torch") {
      options.slimTorch = false;
      --i;  // it has no value
      continue;
    }
    if (i + 1 == words.size()) throw UsageError(option + " needs a value");
    const std::string& value = words[i + 1];
    if (option == "--interpreters")
      options.interpreters = positiveNumber(option, value);
    else if (option == "--rounds")
      options.rounds = positiveNumber(option, value);
    else if (option == "--report")
      options.reports = value;
    else if (option == "--path")
      options.paths.push_back(value);
    else
      throw UsageError("unknown option " + option);
  }
  if (options.interpreters == 0 || options.reports.empty() || i == words.size())
    throw UsageError("--interpreters, --report and MODULE are needed");
  options.module = words[i];
  options.arguments.assign(words.begin() + i + 1, words.end());
  return options;
}

// The default Python, with the directories of --path behind its own.
class PythonWithPaths : public NoopEnvironment {
 public:
  explicit PythonWithPaths(std::vector<std::string> paths) { extraPythonPaths_ = std::move(paths); }
};

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

void replaceAll(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

std::string report(const InterpreterSession& session, const Options& options, int round,
                   int interpreter) {
  c10::List<std::string> arguments;
  for (std::string argument : options.arguments) {
    replaceAll(argument, "{round}", std::to_string(round));
    replaceAll(argument, "{interpreter}", std::to_string(interpreter));
    arguments.push_back(argument);
  }
  return session.global(options.module.c_str(), "report")({at::IValue(arguments)})
      .toIValue()
      .toStringRef();
}

// One round in one interpreter. False if no report was made.
bool runRound(const InterpreterSession& session, const Options& options, int round,
              int interpreter) {
  const fs::path stem = options.reports / ("round-" + std::to_string(round) + "-interpreter-" +
                                           std::to_string(interpreter));
  try {
    write(stem.string() + ".json", report(session, options, round, interpreter));
    return true;
  } catch (const std::exception& error) {
    write(stem.string() + ".error", error.what());
    return false;
  }
}

bool run(const Options& options) {
  InterpreterManagerOptions chosen;
  chosen.environment = std::make_shared<PythonWithPaths>(options.paths);
  chosen.interpreters.slimTorch = options.slimTorch;
  InterpreterManager manager(options.interpreters, chosen);
  std::barrier together(options.interpreters);
  std::vector<char> succeeded(options.interpreters, true);
  std::vector<std::exception_ptr> failures(options.interpreters);
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < options.interpreters; ++k) {
      threads.emplace_back([&, k] {
        try {
          const InterpreterSession session = manager.allInstances()[k].acquireSession();
          for (int round = 0; round < options.rounds; ++round) {
            together.arrive_and_wait();
            if (!runRound(session, options, round, k)) succeeded[k] = false;
          }
        } catch (...) {
          failures[k] = std::current_exception();
          together.arrive_and_drop();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return std::find(succeeded.begin(), succeeded.end(), false) == succeeded.end();
}

}  // namespace

#ifdef MULTIPY_RUN_HOSTED  // in a shared library, for a process that is a Python (tests/hosts)
extern "C" int run_in_interpreters(int count, char** words) try {
#else
int main(int count, char** words) try {
#endif
  return run(parse(std::vector<std::string>(words + 1, words + count))) ? 0 : 1;
} catch (const UsageError& error) {
  std::fprintf(stderr,
               "run_in_interpreters: %s\nusage: run_in_interpreters --interpreters N [--rounds R] "
               "[--whole-torch] --report DIR [--path P]... MODULE ARG...\n",
               error.what());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "run_in_interpreters: %s\n", error.what());
  return 1;
}
