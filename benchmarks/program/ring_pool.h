// A rival: a process for each instance of the models, fed by C++ through rings in
// shared memory (ring_layout.h), as Triton's Python backend does it. The workers are
// Python (rivals/ring_worker.py), the clients are threads of this program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "targets.h"

namespace multipy::benchmark {

class RingWorker;

class RingPool {
 public:
  struct Model {
    std::string name, package, input;
  };
  /// Starts the workers, and returns when all have called each model once.
  /// `command` is the worker's program with its first arguments.
  RingPool(int workers, const std::vector<std::string>& command, const std::vector<Model>& models);
  ~RingPool();

  Target& target(const std::string& name);

  /// Only the first n workers are given requests from now on.
  void limit(int workers) { limit_ = workers; }

 private:
  struct ModelTarget;
  /// Takes the one with the fewest requests under way among those that are used.
  RingWorker& pick();

  std::vector<std::unique_ptr<RingWorker>> workers_;
  std::vector<std::unique_ptr<ModelTarget>> targets_;
  std::size_t limit_;
};

}  // namespace multipy::benchmark
