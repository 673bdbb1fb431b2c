// What acts compare with. Each check throws WrongAnswer, whose text has what was found and
// what was expected.
#pragma once

#include <ATen/core/Tensor.h>

#include <concepts>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "multipy/runtime/Exception.h"

namespace multipy::soak {

/// An answer that is not the expected one.
class WrongAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void expect(bool condition, std::string_view what) {
  if (!condition) throw WrongAnswer("not so: " + std::string(what));
}

/// At most some 300 characters of a text, for an error.
std::string shortened(const std::string& text);

template <typename Found, typename Expected>
void expectEqual(const Found& found, const Expected& expected, std::string_view what) {
  if (found == expected) return;
  std::ostringstream foundText, expectedText;
  foundText << found;
  expectedText << expected;
  throw WrongAnswer(std::string(what) + " is " + shortened(foundText.str()) + ", expected " +
                    shortened(expectedText.str()));
}

/// The same type, sizes and numbers, bit by bit but for the sign of zero.
void expectSame(const at::Tensor& found, const at::Tensor& expected, std::string_view what);
/// The same sizes, and numbers that differ by what another order of additions does.
void expectClose(const at::Tensor& found, const at::Tensor& expected, std::string_view what);

void expectContains(const std::string& text, std::string_view part, std::string_view what);

/// The Error that `work` throws. One of another type goes through.
template <typename Error, typename Work>
Error expectError(std::string_view what, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  throw WrongAnswer(std::string(what) + " threw nothing");
}

/// The exception of Python that `work` throws, which is of this type.
template <typename Work>
runtime::PythonException expectRaised(std::string_view type, Work&& work) {
  auto error = expectError<runtime::PythonException>(type, std::forward<Work>(work));
  expectEqual(error.type(), type, "the exception's type");
  return error;
}

}  // namespace multipy::soak
