// An instance of a model: one interpreter, and the thread of the server's that executes in it.
//
// Threads: made and ended by any thread of the server's; execute() by one at a time, isReady() by
// any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "integrations/triton/cancellation.h"
#include "integrations/triton/model.h"
#include "integrations/triton/triton_api.h"

namespace multipy::triton {

class Instance {
 public:
  /// Imports the model and calls its initialize(). What that raises is thrown, so that the server
  /// says of the model that it is not ready, and why.
  Instance(TRITONBACKEND_ModelInstance* instance, Model& model);
  /// Calls the model's finalize() and ends the interpreter.
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// The requests of a batch. Thrown, they are still the server's; else they are answered.
  void execute(TRITONBACKEND_Request** requests, std::uint32_t count);
  /// TritonError (UNAVAILABLE) if the model's is_ready() says that it is not.
  void requireReady();

 private:
  void lookForKeptInputs();

  TRITONBACKEND_ModelInstance* const instance_;  // the server's, for as long as this lives
  const std::string name_;
  const ModelSettings settings_;
  std::unique_ptr<ModelInterpreter> interpreter_;
  std::unique_ptr<CancellationWatch> cancellations_;  // null: they interrupt nothing
  // By execute()'s thread:
  bool copyInputs_;
  std::vector<std::uint64_t> kept_;  // requests of the last execution that Python still referred to
};

}  // namespace multipy::triton
