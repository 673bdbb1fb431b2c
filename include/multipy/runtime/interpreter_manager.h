// A pool of interpreters.
//
//   InterpreterManager manager(4);
//   Package package = manager.loadPackage("model.pt");
//   ReplicatedObj model = package.loadPickle("model", "model.pkl");
//   // from as many threads as you like:
//   at::Tensor y = model({x}).toTensor();
//
// The interpreters start in parallel. torch is loaded into an interpreter only
// when Python there imports it or a tensor first crosses. Best throughput for
// work that is Python: as many interpreters as cores.
//
// Life: the destructor lets operations that are under way end, refuses later
// ones, shuts the interpreters down and unloads them. Sessions, Objs,
// ReplicatedObjs and Packages may outlive their manager: all they do then is
// throw HandleError. In a child of fork() neither the manager nor anything made
// through it can be used (the interpreters' threads do not exist there); the
// destructor leaves everything alone then.
//
// Threads: every member from any thread, except the destructor, which no other
// member may run beside.
//
// Errors of the constructor: InvalidArgument (n is 0), EnvironmentError,
// LoadError, CacheError, UnsupportedTorchError, and what the environment's
// configureInterpreter() throws. Nothing is left behind after any of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "multipy/runtime/interpreter.h"
#include "multipy/runtime/interpreter_options.h"
#include "multipy/runtime/noop_environment.h"
#include "multipy/runtime/package.h"
#include "multipy/runtime/pool_observer.h"
#include "multipy/runtime/pool_options.h"
#include "multipy/runtime/pool_stats.h"
#include "multipy/runtime/replicated_obj.h"

namespace caffe2::serialize {
class ReadAdapterInterface;
}

namespace multipy::runtime {

/// The user's own word on whether a library is private to each interpreter or
/// shared by all; docs/isolation.md tells the default.
struct IsolationOverride {
  /// Matched against the library's file name as the shell does ("libhdf5*"),
  /// or against its whole path if the pattern has a '/'.
  std::string pattern;
  bool isPrivate = true;  // or else shared by all
};

struct InterpreterManagerOptions {  // what can be said of a manager's interpreters
  std::shared_ptr<Environment> environment = std::make_shared<NoopEnvironment>();  // which Python
  /// Asked in order, before the default rule; the first that matches decides.
  std::vector<IsolationOverride> isolationOverrides;
  /// Where private copies of libraries are kept. Empty: multipy/ in the user's
  /// cache directory, or memory where that cannot be written. A directory that
  /// is named here and cannot be used is a CacheError.
  std::filesystem::path cacheDirectory;
  /// Arguments, environment variables and output of all interpreters ...
  InterpreterOptions interpreters;
  /// ... and what is different in each: called once for each interpreter that is started, with its
  /// index in allInstances(); by the thread that constructs or resizes the manager, and by a thread
  /// of its own where it replaces one. What it throws ends that constructor.
  std::function<void(std::size_t index, InterpreterOptions& options)> adjust;
  /// Called for each interpreter before it gets a call: to import what calls need, so that none of
  /// them pays for it. Those that the manager is made with are warmed up at once, each by a thread
  /// of its own; what it throws ends the constructor. A replacement whose warm-up throws does not
  /// come about.
  std::function<void(const Interpreter&)> warmUp;
  PoolOptions pool;  // what happens under load
  /// Is told of calls and interpreters, of those of the constructor too. Null: nothing is.
  std::shared_ptr<PoolObserver> observer;
};

class InterpreterManager {
 public:
  explicit InterpreterManager(std::size_t nInterp = 2, std::shared_ptr<Environment> environment =
                                                           std::make_shared<NoopEnvironment>());
  InterpreterManager(std::size_t nInterp, const InterpreterManagerOptions& options);
  InterpreterManager(const InterpreterManager&) = delete;
  InterpreterManager& operator=(const InterpreterManager&) = delete;
  ~InterpreterManager();

  /// A session on the interpreter that the LoadBalancer picks. It does not wait.
  InterpreterSession acquireOne();
  /// A session on an interpreter that no call or session uses, for which it waits in line as a call
  /// does: QueueFullError, DeadlineExceededError, CancelledError. What is done through the session
  /// is not subject to the options.
  InterpreterSession acquireOne(const CallOptions& options);

  /// All interpreters, to prepare or ask each: `for (auto& i : m.allInstances())`. The Interpreters
  /// stay where they are as long as the manager does; which interpreter each of them is changes as
  /// they are replaced.
  at::ArrayRef<Interpreter> allInstances() const noexcept;

  // --- while it serves. These start interpreters, one after the other, and wait for that; calls go
  // on meanwhile. Any thread, but no warm-up function (HandleError). They throw what the
  // constructor does.
  /// Replaces the interpreter that has this number (Interpreter::slot()) by a new one, which serves
  /// when this returns. The old one is shut down when its calls and sessions have ended.
  /// InvalidArgument if none in the pool has it; where the new one cannot be had the old one stays.
  void replace(int slot);
  /// From now on the pool has n interpreters, the first n of allInstances(). Those that leave are
  /// shut down when their calls and sessions have ended. InvalidArgument if n is 0 or more than a
  /// process can have. Where a new one cannot be had, those that were started before it stay.
  void resize(std::size_t n);
  /// Calls it for each interpreter there is, all at once, and keeps it for later ones in place of
  /// InterpreterManagerOptions::warmUp, unless it throws. For what is loaded after the manager was
  /// made: `[model](const Interpreter& i) { model.acquireSession(&i).self({example}); }`.
  void setWarmUp(std::function<void(const Interpreter&)> warmUp);

  /// What the interpreters have done and are doing. It waits for no GIL.
  PoolStats stats() const;
  /// Whether calls can be made now, and what is not as it should be.
  PoolHealth health() const;

  /// From now on this one is told of calls that begin, and of interpreters; null: none.
  void setObserver(std::shared_ptr<PoolObserver> observer);

  /// Interrupts a call that is under way, as a stop that is requested of it does
  /// (call_options.h): it comes to CancelledError. `call`: RunningCallFigures::id. False: it is
  /// not under way.
  bool interrupt(std::uint64_t call);

  /// From now on the LoadBalancer picks among the first n only. InvalidArgument
  /// if n is 0 or more than there are.
  void debugLimitInterpreters(std::size_t n);

  /// Opens a file written by torch.package. PackageError if it is missing,
  /// unreadable, or something else.
  Package loadPackage(const std::string& path);
  /// The same from a reader. It is called by one thread at a time, which has the GIL of
  /// an interpreter: it must not wait for Python code.
  Package loadPackage(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader);

  /// Makes a module importable in all interpreters: `import name` runs `source`, whatever
  /// else is installed under that name. Of "a.b", `a` is the package: one that is
  /// registered, too (before it is imported the first time), or installed; else an empty one.
  /// It is looked up at the import; an interpreter that has imported an earlier
  /// source keeps that. InvalidArgument if `name` is no dotted module name.
  void registerModuleSource(std::string name, std::string source);
  /// How many modules have been registered.
  std::size_t countRegisteredModuleSources() const;

  /// Makes an Obj of `session` available to all interpreters. Its class must be
  /// importable there (or be defined in the package that `session` was acquired
  /// from). HandleError if the Obj is not of that session.
  ReplicatedObj createMovable(const Obj& obj, InterpreterSession* session);

 private:
  friend class Interpreter;
  friend class StatsSocket;
  std::shared_ptr<ManagerState> state_;
  std::vector<Interpreter> instances_;
};

}  // namespace multipy::runtime
