// A file written by Python's torch.package, opened for all interpreters of a
// manager.
//
//   Package package = manager.loadPackage("model.pt");
//   ReplicatedObj model = package.loadPickle("model", "model.pkl");
//   std::string labels = package.loadText("model", "labels.txt");
//
// The file is opened once, when the package is loaded: all interpreters read the
// same content, also when the path is replaced later. (Overwriting the file in
// place is not noticed: replace it instead.) Each interpreter makes its own
// PackageImporter on first use, which all of its threads may use at once (torch's
// own class is for one).
//
// A Package is a handle: copies refer to the same thing.
//
// Threads: every member from any thread.
//
// Errors: PackageError when the package does not contain what is asked for;
// ModuleNotFoundError for an extern module that is not installed, naming module,
// package and search path; HandleError after the manager has gone; else as in
// obj.h.
#pragma once

#include <memory>
#include <string>

#include "multipy/runtime/interpreter_session.h"
#include "multipy/runtime/replicated_obj.h"

namespace multipy::runtime {

struct ManagerState;
class PackageSource;

class Package {
 public:
  /// The object that save_pickle(module, file, object) put into the package. It is loaded at
  /// once on one interpreter, which keeps it, and on each other one when it is first used
  /// there, by that interpreter's load_pickle(): so it need not be such as can be pickled
  /// again. Storages are read once, and all interpreters use the same memory; two calls of
  /// loadPickle() have nothing in common. Throws what loading raised (PythonException), and so
  /// does the first use on an interpreter that cannot load it.
  ReplicatedObj loadPickle(const std::string& module, const std::string& file) const;

  /// What save_text(package, resource, text) put there, as UTF-8.
  std::string loadText(const std::string& package, const std::string& resource) const;
  /// What save_binary(package, resource, bytes) put there.
  std::string loadBinary(const std::string& package, const std::string& resource) const;

  /// A session on some interpreter, with this package's PackageImporter as `self`.
  InterpreterSession acquireSession() const;
  /// The same as InterpreterManager::acquireOne() does it with options.
  InterpreterSession acquireSession(const CallOptions& options) const;

  /// Makes an Obj of `session` available to all interpreters; classes defined in
  /// this package are found through it. HandleError if it is not that session's.
  ReplicatedObj createMovable(const Obj& obj, InterpreterSession* session) const;

 private:
  friend class InterpreterManager;
  InterpreterSession acquireSession(const CallOptions* options) const;
  Package(std::shared_ptr<PackageSource> source, std::shared_ptr<ManagerState> manager) noexcept;

  /// Throws InvalidArgument for one that has been moved from.
  PackageSource& source() const;

  std::shared_ptr<PackageSource> source_;
  std::shared_ptr<ManagerState> manager_;
};

}  // namespace multipy::runtime
