#include "options.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <thread>

namespace service {

const char* const kUsage =
    R"(usage: 05_service --package FILE [OPTION VALUE]...

  --package FILE          a torch.package with model/model.pkl and model/example.json
  --address ADDRESS       where to listen; 0.0.0.0 is everywhere   (127.0.0.1)
  --port N                0: one that is free, which is printed    (8080)
  --interpreters N        (as many as processors, but at most 4)
  --deadline MS           for each request                         (10000)
  --waiting N             most requests in line; then 503          (64)
  --replace-after-calls N           a new interpreter after so many calls       (never)
  --replace-above-megabytes N       a new one when its Python has so much memory (never)
)";

namespace {

constexpr std::size_t kMost = 1'000'000'000;

std::size_t number(std::string_view option, std::string_view text, std::size_t least,
                   std::size_t most = kMost) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw UsageError(std::string(option) + " is \"" + std::string(text) +
                     "\", expected a number from " + std::to_string(least) + " to " +
                     std::to_string(most));
  return value;
}

void set(Options& options, std::string_view option, const char* value) {
  if (option == "--package") {
    options.package = value;
  } else if (option == "--address") {
    options.address = value;
  } else if (option == "--port") {
    options.port = static_cast<int>(number(option, value, 0, 65535));
  } else if (option == "--interpreters") {
    options.interpreters = number(option, value, 1, 256);
  } else if (option == "--deadline") {
    options.deadline = std::chrono::milliseconds(number(option, value, 1));
  } else if (option == "--waiting") {
    options.waiting = number(option, value, 0, 10'000);
  } else if (option == "--replace-after-calls") {
    options.replaceAfterCalls = number(option, value, 0);
  } else if (option == "--replace-above-megabytes") {
    options.replaceAboveMegabytes = number(option, value, 0);
  } else {
    throw UsageError("unknown option " + std::string(option));
  }
}

}  // namespace

std::optional<Options> parseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--help") return std::nullopt;
    if (i + 1 == argc) throw UsageError(std::string(option) + " needs a value");
    set(options, option, argv[i + 1]);
  }
  if (options.package.empty()) throw UsageError("--package is missing");
  if (options.interpreters == 0)
    options.interpreters = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
  return options;
}

}  // namespace service
