// A model of the server's: its name, where it lies, and what of its configuration counts here.
//
// Threads: the server calls what makes and ends a model by one thread; the rest, from any.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "integrations/triton/model_interpreter.h"
#include "integrations/triton/package_model.h"
#include "integrations/triton/triton_api.h"

namespace multipy::triton {

/// What of a model's configuration counts here.
struct ModelSettings {
  std::string json;  // all of it
  std::uint64_t maxBatchSize = 0;
  bool decoupled = false;
  std::string file;                 // default_model_filename; empty where it is not said
  std::string environment;          // parameter EXECUTION_ENV_PATH
  bool interruptCancelled = false;  // parameter INTERRUPT_CANCELLED
  bool interruptTimedOut = false;   // parameter INTERRUPT_TIMED_OUT
  bool copyInputs = false;          // parameter COPY_INPUTS
  bool shareWeights = false;        // parameter SHARE_WEIGHTS
  std::optional<std::string> pool;  // parameter INTERPRETER_POOL
  std::vector<Port> inputs, outputs;
  std::string package, resource;  // parameters PACKAGE and RESOURCE
};

class Model {
 public:
  /// Asks the server for all there is, and has model.py complete the configuration where the server
  /// wants that. TritonError, and what ModelInterpreter throws.
  explicit Model(TRITONBACKEND_Model* model);

  const std::string& name() const noexcept { return name_; }
  const ModelPlace& place() const noexcept { return place_; }

  /// As the configuration is now: completing it has changed it.
  ModelSettings settings() const;

  /// If it is a file model.pt without a model.py beside it, or the configuration names a .pt file;
  /// else null.
  std::shared_ptr<PackageModel> package() const noexcept { return package_; }

  /// Of all instances of a model.py; null: each has its own.
  std::shared_ptr<SharedWeights> weights() const noexcept { return weights_; }

  /// The one in which the configuration was completed, for the first instance that asks; for the
  /// others a new one.
  std::unique_ptr<ModelInterpreter> interpreter();

 private:
  void complete();
  std::shared_ptr<PackageModel> loadPackage() const;

  TRITONBACKEND_Model* const model_;  // the server's, for as long as this lives
  std::string name_;
  ModelPlace place_;
  std::shared_ptr<PackageModel> package_;
  std::shared_ptr<SharedWeights> weights_;
  std::mutex mutex_;
  std::unique_ptr<ModelInterpreter> started_;
};

}  // namespace multipy::triton
