// What a model is called with.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace multipy::benchmark {

/// Arguments for the calls of a model, made before anything is timed.
class Input {
 public:
  /// `kind` is "tensor:1x64" (random numbers of that shape), "tokens:1x16" (whole
  /// numbers below 256 of that shape), "int:7", or "sentences:FILE" (its lines in
  /// turn, each as a list of one string). rivals/inputs.py makes the same in Python.
  explicit Input(const std::string& kind);

  /// The arguments of a thread's call. Threads share the numbers, not the tensors: what
  /// a server is called with is its own, so that no other thread counts references to it.
  const std::vector<at::IValue>& arguments(int thread, long number) const {
    const auto& own = ofThreads_[static_cast<std::size_t>(thread) % ofThreads_.size()];
    return own[static_cast<std::size_t>(number) % own.size()];
  }

 private:
  using Calls = std::vector<std::vector<at::IValue>>;
  std::vector<Calls> ofThreads_;
};

}  // namespace multipy::benchmark
