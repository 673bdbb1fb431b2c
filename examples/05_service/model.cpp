#include "model.h"

#include <ATen/core/grad_mode.h>

#include <stdexcept>

#include "json_values.h"

namespace service {
namespace {

using namespace multipy::runtime;

InterpreterManagerOptions poolOptions(const Options& options) {
  InterpreterManagerOptions pool;
  // More than can be done within the deadlines would only make all of them late.
  pool.pool.mostWaiting = options.waiting;
  // Python code that leaks is renewed once in a while, one interpreter at a time.
  pool.pool.replacement.afterCalls = options.replaceAfterCalls;
  pool.pool.replacement.afterHeapBytes = options.replaceAboveMegabytes << 20;
  return pool;
}

at::IValue exampleOf(const Package& package, const std::string& file) {
  try {
    return fromJson(package.loadText("model", "example.json"));
  } catch (const BadRequest& error) {
    throw std::runtime_error("model/example.json of " + file + ": " + error.what());
  }
}

void warmUp(InterpreterSession& session, const at::IValue& example) {
  const at::NoGradGuard inference;
  session.self({example});
}

}  // namespace

Model::Model(const Options& options)
    : file_(options.package), manager_(options.interpreters, poolOptions(options)) {
  Loaded first = load();
  serving_ = first.model;
  example_->set(std::move(first.example));
  // For those that are there and for those that replace them.
  manager_.setWarmUp([serving = serving_, example = example_](const Interpreter& interpreter) {
    InterpreterSession session = serving.acquireSession(&interpreter);
    warmUp(session, example->get());
  });
}

Model::Loaded Model::load() {
  // (The file stays open as long as the model is used: interpreters that come later load it from
  // there, whatever has the file's name then.)
  const Package package = manager_.loadPackage(file_);
  return {package.loadPickle("model", "model.pkl"), exampleOf(package, file_)};
}

at::IValue Model::predict(const at::IValue& document,
                          CallOptions::Clock::time_point deadline) const {
  // Whether gradients are recorded is a property of the thread, also of the Python that it runs.
  const at::NoGradGuard inference;
  CallOptions options;
  options.deadline = deadline;
  return serving_.call({document}, options);
}

void Model::reload() {
  Loaded next = load();
  serving_.switchTo(next.model,
                    [&next](InterpreterSession& session) { warmUp(session, next.example); });
  // An interpreter that is being started right now may have been given the old example with the new
  // model. If that cannot answer it, the interpreter is not used, and another one is started soon.
  example_->set(std::move(next.example));
}

}  // namespace service
