// The pool of interpreters, and the model that it serves.
//
// The package has, beside the model, an example of what it is called with (model/example.json):
// every interpreter answers that once before it gets a request, when the program starts, when a new
// model is loaded, and when one interpreter replaces another. So no request pays for imports.
//
// Threads: every member from any thread, reload() by one at a time.
#pragma once

#include <multipy/runtime/deploy.h>

#include <memory>
#include <mutex>

#include "options.h"

namespace service {

/// What an interpreter answers before it gets requests. It changes with the model.
class Example {
 public:
  at::IValue get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void set(at::IValue value) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
  }

 private:
  mutable std::mutex mutex_;
  at::IValue value_;
};

class Model {
 public:
  /// Starts the interpreters, loads the package, and warms all of them up. Throws what is wrong
  /// with any of that.
  explicit Model(const Options& options);

  /// What the model returns for this document, in time or not at all: QueueFullError,
  /// DeadlineExceededError, PythonException, ConversionError.
  at::IValue predict(const at::IValue& document,
                     multipy::runtime::CallOptions::Clock::time_point deadline) const;

  /// Loads the package file as it is now. Requests that are under way end on the old model, later
  /// ones take the new one; none of them waits. What it throws leaves the old one serving.
  void reload();

  multipy::runtime::PoolStats stats() const { return manager_.stats(); }
  multipy::runtime::PoolHealth health() const { return manager_.health(); }

 private:
  struct Loaded {
    multipy::runtime::ReplicatedObj model;
    at::IValue example;
  };
  Loaded load();

  const std::string file_;
  const std::shared_ptr<Example> example_ = std::make_shared<Example>();
  multipy::runtime::InterpreterManager manager_;
  multipy::runtime::ReplicatedObj serving_;
};

}  // namespace service
