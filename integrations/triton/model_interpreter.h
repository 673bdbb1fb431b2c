// One model.py in one interpreter: what one instance of a model has.
//
// It is a pool of one (and not one place in a pool that the instances share) so that a call of
// execute() can have a deadline and be interrupted, and the interpreter be replaced afterwards: a
// replacement runs initialize() again before it serves, as it does for the first one.
//
// Threads: autoComplete() and start() by one thread, before all else. execute() by one thread at a
// time, isReady() by any. finalize() and the destructor when nothing else is called any more.
// Errors: those of multipy: PythonException for what the model raises.
#pragma once

#include <multipy/runtime/call_options.h>

#include <map>
#include <memory>
#include <string>

#include "integrations/triton/request_values.h"
#include "integrations/triton/triton_api.h"

namespace multipy::triton {

class SharedWeights;

/// Where the model's Python is, and which Python it runs in.
struct ModelPlace {
  std::string repository;                 // the model's folder
  std::string version;                    // name of the folder in it that has model.py
  std::string prefix;                     // of a Python environment; empty: the default one
  TRITONSERVER_Server* server = nullptr;  // which serves it, for as long as the model is there
};

class ModelInterpreter {
 public:
  /// Starts the interpreter. Nothing of the model is imported yet.
  explicit ModelInterpreter(const ModelPlace& place);
  ModelInterpreter(const ModelInterpreter&) = delete;
  ModelInterpreter& operator=(const ModelInterpreter&) = delete;
  ~ModelInterpreter();

  /// What the model's auto_complete_config() makes of this configuration; both are JSON.
  std::string autoComplete(const std::string& name, const std::string& config);

  /// Imports the model and calls its initialize() with these, here and in later replacements.
  /// `weights`: those of all instances; null: this one has its own.
  void start(const std::string& name, const std::map<std::string, std::string>& args,
             bool decoupled, const std::shared_ptr<SharedWeights>& weights);

  /// Calls execute() with these requests. Responses have been sent when it returns; a
  /// decoupled model may send more.
  void execute(RequestValues requests, const runtime::CallOptions& options);

  /// What the model's is_ready() says, which has so long; true where it has none.
  bool isReady(const runtime::CallOptions& options);

  /// Calls the model's finalize(). What that raises goes to the log.
  void finalize() noexcept;

 private:
  struct Python;  // what includes the library's and torch's headers, which take long to compile
  std::unique_ptr<Python> python_;
};

}  // namespace multipy::triton
