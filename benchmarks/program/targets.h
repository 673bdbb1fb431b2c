// What a measurement calls: one model as one strategy runs it.
#pragma once

#include <memory>
#include <string>

namespace multipy::benchmark {

class Target {
 public:
  virtual ~Target() = default;
  /// One request by client thread `thread`, its `number`th, with that request's
  /// input. Returns when the answer is there. From any thread.
  virtual void call(int thread, long number) = 0;
};

/// A file of TorchScript, called by the client threads themselves.
std::unique_ptr<Target> torchScriptTarget(const std::string& file, const std::string& input);

/// A package of AOTInductor with so many runners, called by the client threads.
std::unique_ptr<Target> aotInductorTarget(const std::string& file, const std::string& input,
                                          int runners);

}  // namespace multipy::benchmark
