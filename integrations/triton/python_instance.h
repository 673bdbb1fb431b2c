// An instance of a model.py: its place in an interpreter, and the thread of the server's that
// executes there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "integrations/triton/call_limits.h"
#include "integrations/triton/instance.h"
#include "integrations/triton/model.h"
#include "integrations/triton/triton_api.h"

namespace multipy::triton {

class PythonInstance final : public Instance {
 public:
  /// Imports the model and calls its initialize().
  PythonInstance(TRITONBACKEND_ModelInstance* instance, Model& model);

  void execute(TRITONBACKEND_Request** requests, std::uint32_t count) override;
  void requireReady() override;

 private:
  void lookForKeptInputs();

  TRITONBACKEND_ModelInstance* const instance_;  // the server's, for as long as this lives
  const std::string name_;
  const ModelSettings settings_;
  std::unique_ptr<ModelInterpreter> interpreter_;
  const CallLimits limits_;
  // By execute()'s thread:
  bool copyInputs_;
  std::vector<std::uint64_t> kept_;  // requests of the last execution that Python still referred to
};

}  // namespace multipy::triton
