// The weights of a model.py, once for all of its instances (parameter SHARE_WEIGHTS).
//
// Each instance loads its own, as its code says. Once initialize() has returned, parameters of its
// torch modules whose bytes an instance before has, too, are made to lie there, and its own memory
// is free again. Python's side is python/_multipy_triton_weights.py.
//
// Threads: share() from any thread; instances that start at once share, too.
#pragma once

#include <ATen/core/Tensor.h>
#include <multipy/runtime/interpreter_session.h>

#include <mutex>
#include <string>
#include <unordered_map>

#include "integrations/triton/host_interpreter.h"

namespace multipy::triton {

class SharedWeights {
 public:
  /// For the instance with this key, which has just been initialized in this interpreter. What it
  /// has that no other one has is kept here for the next ones. PythonException.
  void share(const runtime::InterpreterSession& session, HostInterpreter::Key key);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, at::Tensor> all_;  // by what they are, and a hash of their bytes
};

}  // namespace multipy::triton
