// Which interpreter an instance of a model.py runs in: one of its own, or one that it shares with
// instances of other models, where the configuration names a pool (parameter INTERPRETER_POOL).
//
// A pool has as many interpreters as it needs: an instance comes into the one with the fewest
// others, but never to another instance of its model, which would wait for the same GIL, nor to a
// model that has a module of the same name beside it, since an interpreter has one module of a
// name. If none is left, another one is started. An interpreter ends with its last instance.
//
// Threads: every member from any thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "integrations/triton/host_interpreter.h"
#include "integrations/triton/triton_api.h"

namespace multipy::triton {

/// Where a model's Python is, and which Python it runs in.
struct ModelPlace {
  std::string repository;                 // the model's folder
  std::string version;                    // name of the folder in it that has model.py
  std::string prefix;                     // of a Python environment; empty: the default one
  TRITONSERVER_Server* server = nullptr;  // which serves it, for as long as the model is there
  std::string pool;                       // of interpreters; empty: each instance has its own
};

class InterpreterPool;

/// An instance's place in an interpreter, as long as this lives.
class Placement {
 public:
  /// `pool`: which is told when this ends; null: the interpreter is in none.
  Placement(std::shared_ptr<HostInterpreter> host, HostInterpreter::Key key, InterpreterPool* pool)
      : host_(std::move(host)), key_(key), pool_(pool) {}
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;
  ~Placement();

  HostInterpreter& host() const noexcept { return *host_; }
  HostInterpreter::Key key() const noexcept { return key_; }

 private:
  const std::shared_ptr<HostInterpreter> host_;
  const HostInterpreter::Key key_;
  InterpreterPool* const pool_;
};

/// A place for an instance of this model.
std::unique_ptr<Placement> placeOf(const std::string& model, const ModelPlace& at);

}  // namespace multipy::triton
