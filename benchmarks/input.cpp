#include "input.h"

#include <ATen/ops/rand.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace multipy::benchmark {
namespace {

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
    arguments_.push_back({at::IValue(1)});
  } else if (what == "tensor") {
    for (int i = 0; i < kStride; ++i) arguments_.push_back({at::rand(shapeOf(detail))});
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
