#include "input.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>

#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace multipy::benchmark {
namespace {

constexpr int kManyTensors = 37;
constexpr int kFewTensors = 4;  // of large ones, which would fill the memory
constexpr int64_t kLarge = 1 << 18;
constexpr int64_t kVocabulary = 256;

std::vector<int64_t> shapeOf(const std::string& text) {
  std::vector<int64_t> shape;
  std::istringstream in(text);
  for (std::string size; std::getline(in, size, 'x');) shape.push_back(std::stol(size));
  return shape;
}

}  // namespace

Input::Input(const std::string& kind) {
  const auto colon = kind.find(':');
  const std::string what = kind.substr(0, colon);
  const std::string detail = colon == std::string::npos ? "" : kind.substr(colon + 1);
  if (what == "int") {
    arguments_.push_back({at::IValue(static_cast<int64_t>(std::stol(detail)))});
  } else if (what == "tensor" || what == "tokens") {
    const auto shape = shapeOf(detail);
    const auto elements =
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    for (int i = 0; i < (elements > kLarge ? kFewTensors : kManyTensors); ++i)
      arguments_.push_back(
          {what == "tensor" ? at::rand(shape) : at::randint(kVocabulary, shape, at::kLong)});
  } else if (what == "sentences") {
    std::ifstream file(detail);
    for (std::string line; std::getline(file, line);)
      if (!line.empty()) arguments_.push_back({c10::List<std::string>({line})});
    if (arguments_.empty()) throw std::runtime_error("no sentences in " + detail);
  } else {
    throw std::runtime_error("unknown kind of input: " + kind);
  }
}

}  // namespace multipy::benchmark
