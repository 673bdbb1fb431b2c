// The base of the routed unwinder. torch 2.11 and later also ask it for what Python said of the
// forward pass; to earlier ones the two functions mean nothing.
#pragma once

#include <torch/csrc/profiler/combined_traceback.h>

#include <string>
#include <vector>

namespace multipy::bridge::feature {

/// `Owner::current()` is the unwinder of the interpreter that the thread is in, or null.
template <typename Owner>
struct UnwinderBase : torch::CapturedTraceback::Python {
  bool canGather() {
    auto* const unwinder = Owner::current();
    return unwinder && unwinder->canGather();
  }
  std::vector<std::string> gatherForwardTraceback() {
    auto* const unwinder = Owner::current();
    return unwinder ? unwinder->gatherForwardTraceback() : std::vector<std::string>{};
  }
};

}  // namespace multipy::bridge::feature
