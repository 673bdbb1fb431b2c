// One model.py in an interpreter: what one instance of a model has.
//
// Threads: autoComplete() and start() by one thread, before all else. execute() by one thread at a
// time, isReady() by any. The destructor when nothing else is called any more.
// Errors: those of multipy: PythonException for what the model raises.
#pragma once

#include <multipy/runtime/call_options.h>

#include <map>
#include <memory>
#include <string>

#include "integrations/triton/interpreter_pools.h"
#include "integrations/triton/request_values.h"

namespace multipy::triton {

class SharedWeights;

class ModelInterpreter {
 public:
  /// Starts the interpreter, if it has to be. Nothing of the model is imported yet.
  ModelInterpreter(const std::string& model, const ModelPlace& place);
  ModelInterpreter(const ModelInterpreter&) = delete;
  ModelInterpreter& operator=(const ModelInterpreter&) = delete;
  /// Calls the model's finalize(). What that raises goes to the log.
  ~ModelInterpreter();

  /// What the model's auto_complete_config() makes of this configuration; both are JSON.
  std::string autoComplete(const std::string& config);

  /// Imports the model and calls its initialize() with these, here and in later replacements.
  /// `weights`: those of all instances; null: this one has its own.
  void start(const std::map<std::string, std::string>& args, bool decoupled,
             const std::shared_ptr<SharedWeights>& weights);

  /// Calls execute() with these requests. Responses have been sent when it returns; a
  /// decoupled model may send more.
  void execute(RequestValues requests, const runtime::CallOptions& options);

  /// What the model's is_ready() says, which has so long; true where it has none.
  bool isReady(const runtime::CallOptions& options);

 private:
  struct Functions;  // what includes the library's and torch's headers, which take long to compile

  const std::string model_;
  const ModelPlace place_;
  const std::unique_ptr<Placement> placement_;
  std::unique_ptr<Functions> functions_;
};

}  // namespace multipy::triton
