// What the command lines of the soaks have in common.
#pragma once

#include <charconv>
#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace multipy::soak {

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The number that `text` is. UsageError if it is none, or less than `least`.
template <typename Number>
Number number(std::string_view option, std::string_view text, Number least) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least)
    throw UsageError(std::string(option) + " is '" + std::string(text) +
                     "', expected a number of at least " + std::to_string(least));
  return number;
}

using OptionWithValue = std::function<void(const std::string& value)>;

/// Takes a command line apart: flags are set, the others get the word behind them. UsageError for
/// an unknown option, or one whose value is missing.
inline void takeOptions(const std::vector<std::string>& words,
                        const std::map<std::string_view, bool*>& flags,
                        const std::map<std::string_view, OptionWithValue>& withValue) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (const auto flag = flags.find(words[i]); flag != flags.end()) {
      *flag->second = true;
    } else if (const auto found = withValue.find(words[i]); found == withValue.end()) {
      throw UsageError("unknown option " + words[i]);
    } else if (++i == words.size()) {
      throw UsageError(std::string(found->first) + " needs a value");
    } else {
      found->second(words[i]);
    }
  }
}

}  // namespace multipy::soak
