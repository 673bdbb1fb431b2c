// What the copies of a ReplicatedObj share: how an interpreter comes by the object, its
// storages, and the Python object in each interpreter that has used it.
//
// One from createMovable() is the object pickled. One from loadPickle() is a recipe: which
// pickle of the package each interpreter loads with its own importer; nothing is pickled.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <variant>

#include "abi/interpreter_api.h"
#include "multipy/runtime/replicated_obj.h"
#include "runtime/interpreter/object_table.h"
#include "runtime/manager_state.h"
#include "runtime/packages/package_source.h"
#include "runtime/pool/queued_calls.h"
#include "runtime/scheduling/call_cost.h"
#include "runtime/session_state.h"

namespace multipy::runtime {

struct ReplicatedState {
  ReplicatedState(std::shared_ptr<ManagerState> of, std::shared_ptr<PackageSource> from)
      : manager(std::move(of)), package(std::move(from)), name(keptName("a ReplicatedObj")) {}

  /// Pickles an Obj of `session`, with the classes of `package` if not null.
  /// Throws HandleError if the Obj is not of that session.
  static ReplicatedObj make(const Obj& obj, const InterpreterSession* session,
                            std::shared_ptr<ManagerState> manager,
                            std::shared_ptr<PackageSource> package);

  /// What save_pickle(module, file, object) put into `package`, loaded on one interpreter
  /// and kept there. Throws what loading raised.
  static ReplicatedObj load(std::string module, std::string file,
                            std::shared_ptr<ManagerState> manager,
                            std::shared_ptr<PackageSource> package);

  /// The object in this interpreter, unpickled on first use.
  BorrowedReference objectIn(const Entered& inside);
  /// The same as an Obj of the session.
  Obj objIn(const std::shared_ptr<SessionState>& session, const char* doing);

  /// Calls the object, or its method of that name if not null, on the interpreter
  /// that the queue gives, perhaps after waiting for one. Where that turns out to be broken
  /// (InterpreterCore::isBroken) as the object is brought there, another one is asked for.
  at::IValue call(const char* method, at::ArrayRef<at::IValue> args, const KeywordArgument* named,
                  std::size_t nNamed, const CallOptions* options = nullptr);

  /// Has a thread of the manager's make the call, or throws what ReplicatedObj::callThen() does.
  void start(std::shared_ptr<QueuedCall> call);
  /// Throws what a call becomes that was in line for that thread.
  [[noreturn]] void refuse(QueuedCall::Refusal why);

  std::string_view wantedBy() const noexcept {
    return package ? std::string_view(package->name()) : std::string_view();
  }

  const std::shared_ptr<ManagerState> manager;
  const std::shared_ptr<PackageSource> package;  // null: not from a package
  std::variant<Pickled, PackagedPickle> origin;  // not changed once made
  ObjectTable objects;
  CallCost cost;
  const std::string* name;  // what errors and figures call it; never freed

 private:
  /// Null if this interpreter has turned out to be of no use: nothing has been called yet, so
  /// another one can do it, if fewer than there are have been `tried`, this one included.
  BorrowedReference objectUnlessBroken(const Entered& inside, std::size_t tried);
  at::IValue callIn(const Entered& inside, BorrowedReference object, const char* method,
                    at::ArrayRef<at::IValue> args, const KeywordArgument* named,
                    std::size_t nNamed);
  NewReference bringTo(const Entered& inside, Failure& failure);
};

}  // namespace multipy::runtime
