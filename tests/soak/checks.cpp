#include "checks.h"

#include <ATen/Functions.h>

namespace multipy::soak {
namespace {

std::string formOf(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.toString() << tensor.sizes();
  return text.str();
}

void expectSameForm(const at::Tensor& found, const at::Tensor& expected, std::string_view what) {
  expect(found.defined(), std::string(what) + " is a tensor");
  expectEqual(formOf(found), formOf(expected), what);
}

[[noreturn]] void numbersDiffer(const at::Tensor& found, const at::Tensor& expected,
                                std::string_view what) {
  const at::Tensor differ = found.ne(expected);
  throw WrongAnswer(
      std::string(what) + ", " + formOf(found) + ": " +
      std::to_string(differ.sum().item<int64_t>()) + " numbers differ; the first is " +
      std::to_string(found.masked_select(differ)[0].to(at::kDouble).item<double>()) +
      ", expected " +
      std::to_string(expected.masked_select(differ)[0].to(at::kDouble).item<double>()));
}

}  // namespace

std::string shortened(const std::string& text) {
  return text.size() <= 300 ? text
                            : text.substr(0, 300) + "... (" + std::to_string(text.size()) + ")";
}

void expectSame(const at::Tensor& found, const at::Tensor& expected, std::string_view what) {
  expectSameForm(found, expected, what);
  if (!found.equal(expected)) numbersDiffer(found, expected, what);
}

void expectClose(const at::Tensor& found, const at::Tensor& expected, std::string_view what) {
  expectSameForm(found, expected, what);
  if (!found.allclose(expected, 1e-4, 1e-5)) numbersDiffer(found, expected, what);
}

void expectContains(const std::string& text, std::string_view part, std::string_view what) {
  if (text.find(part) == std::string::npos)
    throw WrongAnswer(std::string(what) + " has no '" + std::string(part) +
                      "': " + shortened(text));
}

}  // namespace multipy::soak
