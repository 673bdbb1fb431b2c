// One interpreter, and the models that run in it: one that has it for itself, or those that
// interpreter_pools.h has put there.
//
// It is a pool of one (and not one place in a larger one) so that a call of execute() can have a
// deadline and be interrupted, and the interpreter be replaced afterwards. In the one that takes
// its place all of its models are started before it serves. A model that is not there all the same
// (it was added meanwhile, or could not be started beside the others) is started by its next call.
//
// Calls of different models wait for one another where they compute in Python, and go on at once
// where they do not need the GIL: a call that waits for another model of the same interpreter is
// one of these.
//
// Threads: every member from any thread; no thread may wait in `start` for what adds, removes or
// calls that very model.
// Errors: those of multipy: PythonException for what a model raises.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "integrations/triton/triton_api.h"

namespace multipy::runtime {
class InterpreterManager;
class InterpreterSession;
}  // namespace multipy::runtime

namespace multipy::triton {

class HostInterpreter {
 public:
  using Key = std::int64_t;  // of a model's instance, in the whole process
  using Start = std::function<void(const runtime::InterpreterSession&)>;

  struct Options {
    std::string prefix;                     // of a Python environment; empty: the default one
    TRITONSERVER_Server* server = nullptr;  // for as long as this lives
    std::string name;                       // in the metrics; empty: it is one model's own
  };

  /// Nothing is started before it is used.
  explicit HostInterpreter(Options options);
  HostInterpreter(const HostInterpreter&) = delete;
  HostInterpreter& operator=(const HostInterpreter&) = delete;
  ~HostInterpreter();

  bool isOneModels() const noexcept { return options_.name.empty(); }

  /// From now on there is a model with this key, until remove().
  void admit(Key key);
  /// Calls `start` in the interpreter, and keeps it for those that take its place.
  void start(Key key, Start start);
  /// Calls it once more if the interpreter that there is now has not got the model.
  void startAgain(Key key);
  /// Finalizes the model and forgets it. What its finalize() raises goes to the log.
  void remove(Key key) noexcept;

  runtime::InterpreterManager& manager();
  /// In which Python is connected with the server.
  runtime::InterpreterSession session();

 private:
  struct Python;  // what includes the library's and torch's headers, which take long to compile
  Python& python();

  const Options options_;
  std::once_flag once_;
  std::unique_ptr<Python> python_;
};

}  // namespace multipy::triton
