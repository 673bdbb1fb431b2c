#include "input.h"

#include <ATen/ops/from_blob.h>
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
constexpr int kThreads = 128;  // the most that a load has

std::vector<int64_t> shapeOf(const std::string& text) {
  std::vector<int64_t> shape;
  std::istringstream in(text);
  for (std::string size; std::getline(in, size, 'x');) shape.push_back(std::stol(size));
  return shape;
}

// The same numbers as something else's that nothing else refers to.
at::IValue another(const at::IValue& value) {
  if (value.isTensor()) {
    const at::Tensor& numbers = value.toTensor();
    return at::from_blob(
        numbers.data_ptr(), numbers.sizes(), [numbers](void*) {}, numbers.options());
  }
  return value.isList() ? value.deepcopy() : value;
}

}  // namespace

Input::Input(const std::string& kind) {
  const auto colon = kind.find(':');
  const std::string what = kind.substr(0, colon);
  const std::string detail = colon == std::string::npos ? "" : kind.substr(colon + 1);
  Calls calls;
  if (what == "int") {
    calls.push_back({at::IValue(static_cast<int64_t>(std::stol(detail)))});
  } else if (what == "tensor" || what == "tokens") {
    const auto shape = shapeOf(detail);
    const auto elements =
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    for (int i = 0; i < (elements > kLarge ? kFewTensors : kManyTensors); ++i)
      calls.push_back(
          {what == "tensor" ? at::rand(shape) : at::randint(kVocabulary, shape, at::kLong)});
  } else if (what == "sentences") {
    std::ifstream file(detail);
    for (std::string line; std::getline(file, line);)
      if (!line.empty()) calls.push_back({c10::List<std::string>({line})});
    if (calls.empty()) throw std::runtime_error("no sentences in " + detail);
  } else {
    throw std::runtime_error("unknown kind of input: " + kind);
  }
  for (int thread = 0; thread < kThreads; ++thread) {
    Calls& own = ofThreads_.emplace_back();
    for (const auto& arguments : calls) {
      auto& mine = own.emplace_back();
      for (const at::IValue& argument : arguments) mine.push_back(another(argument));
    }
  }
}

}  // namespace multipy::benchmark
