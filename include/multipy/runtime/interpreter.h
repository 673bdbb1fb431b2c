// One Python interpreter of its own: types, modules, GIL and private copies of
// every library that knows Python.
//
// Usually an InterpreterManager makes them; a stand-alone one is a manager's
// interpreter without the pool:
//
//   Interpreter python(std::make_shared<NoopEnvironment>());
//   auto I = python.acquireSession();
//
// Threads: acquireSession() and slot() from any thread. Construction may happen
// in many threads at once. Destroying (or moving) it while another thread calls
// a member of this very object is a race, but operations on its sessions are
// not: destruction waits for those that are under way and refuses later ones.
// The thread that destroys it must hold none of its interpreter's GIL (if it
// does, the shutdown is finished in the background; see InterpreterSession::Scope).
//
// Errors of the constructor: EnvironmentError (the Python cannot be used),
// LoadError and CacheError (private copies cannot be made or loaded),
// UnsupportedTorchError. Nothing is left behind after any of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "multipy/runtime/interpreter_options.h"
#include "multipy/runtime/interpreter_session.h"
#include "multipy/runtime/isolation.h"

namespace multipy::runtime {

class Environment;
class InterpreterCore;
class InterpreterManager;
class Guest;
class PoolKeeper;
class Seat;
struct ManagerState;

class Interpreter {
 public:
  /// A stand-alone interpreter, in no pool.
  explicit Interpreter(std::shared_ptr<Environment> environment, InterpreterOptions options = {});
  /// An interpreter beside the manager's pool: it sees the module sources
  /// registered there, and ReplicatedObjs of that manager can be made from its
  /// objects. Its options are those of all the manager's interpreters. With a null
  /// manager: a stand-alone one.
  Interpreter(InterpreterManager* manager, std::shared_ptr<Environment> environment);

  Interpreter(Interpreter&&) noexcept = default;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  Interpreter& operator=(Interpreter&&) = delete;
  /// Shuts Python down: runs its atexit functions, waits for its non-daemon
  /// threads, unloads its libraries. (Where Python has daemon threads that do not
  /// end, its libraries stay loaded. Threads that are made by Python code which
  /// C++ called are daemon threads unless they say otherwise.)
  ~Interpreter();

  /// A session here. It is not counted by the manager's LoadBalancer. HandleError if resize() has
  /// taken this interpreter out of its pool.
  InterpreterSession acquireSession() const;

  /// Number of this interpreter among the process's live ones. A manager that replaces it puts one
  /// with another number here.
  int slot() const;

  /// Why this interpreter is of no use any more, and from when; empty as long as it is of use.
  /// An interpreter in which the import of torch has failed half-way stays so: the C++ part of
  /// torch is initialised once in an interpreter. Its manager gives calls and sessions to the
  /// other interpreters then, unless all are broken; what needs torch in this one throws the
  /// reason. It can be destroyed like any other.
  std::string whyBroken() const;

  /// The libraries that its Python code has loaded so far, in order.
  std::vector<LoadedLibrary> libraries() const;

 private:
  friend class InterpreterManager;
  friend class ReplicatedObj;
  friend class PoolKeeper;
  Interpreter(std::shared_ptr<Seat> seat, std::shared_ptr<ManagerState> manager) noexcept;
  std::shared_ptr<InterpreterCore> core() const;
  Guest guest() const;

  std::shared_ptr<Seat> seat_;             // null once moved from
  std::shared_ptr<ManagerState> manager_;  // null when stand-alone
};

}  // namespace multipy::runtime
