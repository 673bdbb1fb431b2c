#include "options.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <thread>
#include <vector>

namespace sentence_search {
namespace {

constexpr const char* kUsage =
    "\nusage: 03_sentence_search PACKAGE REFERENCE CORPUS [--interpreters N] [--threads M]"
    " [--passes P] [--query TEXT]";

[[noreturn]] void fail(const std::string& what) { throw UsageError(what + kUsage); }

int positiveNumber(std::string_view option, std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    fail(std::string(option) + " is \"" + std::string(text) + "\", expected a number from 1");
  return number;
}

}  // namespace

Options parseOptions(int argc, char** argv) {
  Options options;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--")) {
      files.emplace_back(argument);
      continue;
    }
    if (i + 1 == argc) fail(std::string(argument) + " needs a value");
    const char* value = argv[++i];
    if (argument == "--interpreters") {
      options.interpreters = positiveNumber(argument, value);
    } else if (argument == "--threads") {
      options.threads = positiveNumber(argument, value);
    } else if (argument == "--passes") {
      options.passes = positiveNumber(argument, value);
    } else if (argument == "--query") {
      options.query = value;
    } else {
      fail("unknown option " + std::string(argument));
    }
  }
  if (files.size() != 3) fail("expected three files, found " + std::to_string(files.size()));
  options.package = files[0];
  options.reference = files[1];
  options.corpus = files[2];
  if (options.interpreters == 0)
    options.interpreters = std::clamp<int>(std::thread::hardware_concurrency(), 1, 4);
  if (options.threads == 0) options.threads = options.interpreters;
  return options;
}

}  // namespace sentence_search
