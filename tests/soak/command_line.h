// What the command lines of the soaks have in common.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

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

}  // namespace multipy::soak
