// What the acts act upon: one manager, a package with a model, and what is kept meanwhile.
//
// Threads: every member from any thread, but not inside an InterpreterSession::enter() (the
// package and the model are loaded at their first use, which may wait for another thread).
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "multipy/runtime/interpreter_manager.h"
#include "places.h"
#include "printed_lines.h"
#include "random.h"

namespace multipy::soak {

/// A session that is used and dropped by another thread than the one that made it.
struct KeptSession {
  runtime::InterpreterSession session;
  runtime::Obj counter;  // of soak_values.Counter
  std::int64_t start = 0;
};

/// A generator of Python that goes from thread to thread.
struct KeptGenerator {
  runtime::InterpreterSession session;
  runtime::Obj generator;  // of soak_values.squares
  std::int64_t next = 0;
};

/// Memory of a tensor that C++ has given up, and Python has an array of.
struct KeptArray {
  runtime::InterpreterSession session;
  std::string key;
  double sum = 0;
};

struct WorldOptions {
  int interpreters = 8;
  std::filesystem::path packages;  // made by make_packages.py
  std::filesystem::path modules;   // the folder of soak_*.py, each registered by its source
};

class World {
 public:
  explicit World(WorldOptions options);

  runtime::InterpreterManager& manager() noexcept { return manager_; }
  /// One that the balancer picks, or any of the manager's.
  runtime::InterpreterSession session(Random& random);
  const runtime::Interpreter& interpreter(Random& random) const;
  std::string packagePath(const char* name) const { return (options_.packages / name).string(); }
  const runtime::Package& package();
  /// soak_model.Mlp of the package.
  const runtime::ReplicatedObj& model();
  /// Makes the modules of the soak importable in another manager's interpreters.
  void registerModules(runtime::InterpreterManager& manager) const;
  /// A number that no other act of this process has.
  std::uint64_t unique() noexcept { return unique_.fetch_add(1); }

  Places<KeptSession> sessions{32};
  Places<runtime::Obj> objects{64};  // their sessions have ended
  Places<KeptGenerator> generators{16};
  Places<KeptArray> arrays{32};
  PrintedLines printed;

 private:
  const WorldOptions options_;
  std::atomic<std::uint64_t> unique_{0};
  runtime::InterpreterManager manager_;  // ends before what its interpreters print to
  std::once_flag packageOnce_, modelOnce_;
  std::optional<runtime::Package> package_;
  runtime::ReplicatedObj model_;
};

/// What soak_model.Mlp answers, computed without any Python.
at::Tensor modelAnswer(at::Tensor x);

/// module.function(arguments...), of whatever types a call takes.
template <typename... Arguments>
at::IValue call(const runtime::InterpreterSession& session, const char* module,
                const char* function, const Arguments&... arguments) {
  const std::vector<at::IValue> values{at::IValue(arguments)...};
  return session.global(module, function)(at::ArrayRef<at::IValue>(values)).toIValue();
}

}  // namespace multipy::soak
