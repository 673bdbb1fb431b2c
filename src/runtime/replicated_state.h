// What the copies of a ReplicatedObj share: the object (ObjectVersion), and which other one takes
// its calls, or some of them.
//
// A call of one that never had another uses its own version by a plain pointer. When another one
// takes all calls, calls that are under way on the version by that pointer have a record
// (CallRecords): the version is kept until those are over. From then on a call counts what it uses.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "abi/interpreter_api.h"
#include "base/mutex.h"
#include "multipy/runtime/replicated_obj.h"
#include "runtime/manager_state.h"
#include "runtime/object_version.h"
#include "runtime/observed_call.h"
#include "runtime/pool/queued_calls.h"
#include "runtime/scheduling/call_cost.h"
#include "runtime/session_state.h"

namespace multipy::runtime {

struct ReplicatedState {
  ReplicatedState(std::shared_ptr<ManagerState> of, std::shared_ptr<PackageSource> from);

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

  /// The version that a use from now on gets.
  std::shared_ptr<ObjectVersion> version() const;
  /// The object of `version` as an Obj of the session.
  static Obj objIn(ObjectVersion& version, const std::shared_ptr<SessionState>& session,
                   const char* doing);

  /// Calls the object, or its method of that name if not null, on the interpreter
  /// that the queue gives, perhaps after waiting for one. Where that turns out to be broken
  /// (InterpreterCore::isBroken) as the object is brought there, another one is asked for.
  at::IValue call(const char* method, at::ArrayRef<at::IValue> args, const KeywordArgument* named,
                  std::size_t nNamed, const CallOptions* options = nullptr) {
    if (manager->observer.any()) [[unlikely]]
      return callObserved(method, args, named, nNamed, options, CallOptions::Clock::now());
    return make(method, args, named, nNamed, options, nullptr);
  }
  /// The same; an observer is told that it was asked for then.
  at::IValue callObserved(const char* method, at::ArrayRef<at::IValue> args,
                          const KeywordArgument* named, std::size_t nNamed,
                          const CallOptions* options, CallOptions::Clock::time_point asked);

  /// Has a thread of the manager's make the call, or throws what ReplicatedObj::callThen() does.
  void start(const std::shared_ptr<QueuedCall>& call);
  /// Throws what a call becomes that was in line for that thread.
  [[noreturn]] void refuse(const QueuedCall& call, QueuedCall::Refusal why);

  using WarmUp = std::function<void(InterpreterSession&)>;
  /// As ReplicatedObj's.
  void switchTo(const ReplicatedObj& next, const WarmUp& warmUp);
  void shareCalls(const ReplicatedObj& other, double share, const WarmUp& warmUp);

  ObjectStats stats() const;

  const std::shared_ptr<ManagerState> manager;
  CallCost cost;
  const std::string* name;  // what errors and figures call it; never freed

 private:
  /// Who takes a call: another object, or this one's own version. Exactly one is not null.
  struct Chosen {
    std::shared_ptr<ReplicatedState> other;
    std::shared_ptr<ObjectVersion> own;
  };
  Chosen choose() const;
  [[noreturn]] void throwRefused(QueuedCall::Refusal why) const;
  /// Throws InvalidArgument if it cannot take this one's calls.
  std::shared_ptr<ReplicatedState> checkedOther(const ReplicatedObj& other, const char* doing);
  /// Those that it gives calls to; null: there is none.
  struct Others {
    std::shared_ptr<ReplicatedState> successor, sharer;
  };
  Others others() const;
  /// Whether it is that one, or gives calls to it by others. While none is switched.
  bool leadsTo(const ReplicatedState& other) const;

  /// `trace`: null, or what is noted down for an observer.
  at::IValue make(const char* method, at::ArrayRef<at::IValue> args, const KeywordArgument* named,
                  std::size_t nNamed, const CallOptions* options, CallTrace* trace);
  /// Null if this interpreter has turned out to be of no use: nothing has been called yet, so
  /// another one can do it, if fewer than there are have been `tried`, this one included.
  BorrowedReference objectUnlessBroken(ObjectVersion& version, const Entered& inside,
                                       std::size_t tried);
  /// `timed`: for how many calls this one is timed; 0: not.
  at::IValue callIn(const ObjectVersion& version, const Entered& inside, int place, unsigned timed,
                    BorrowedReference object, const char* method, at::ArrayRef<at::IValue> args,
                    const KeywordArgument* named, std::size_t nNamed);

  DurationTally runTime_;
  std::atomic<std::uint64_t> errors_{0};
  std::atomic<bool> hasOthers_{false};
  mutable base::Mutex mutex_;
  std::shared_ptr<ObjectVersion> own_ MULTIPY_GUARDED_BY(mutex_);  // null once it has a successor
  std::shared_ptr<ReplicatedState> successor_ MULTIPY_GUARDED_BY(mutex_);  // takes all calls
  std::shared_ptr<ReplicatedState> sharer_ MULTIPY_GUARDED_BY(mutex_);     // takes some of them
  double share_ MULTIPY_GUARDED_BY(mutex_) = 0;
  mutable double due_ MULTIPY_GUARDED_BY(mutex_) = 0;  // calls that the sharer is to have
  ObjectVersion* const first_;                         // own_, as long as hasOthers_ is false
};

}  // namespace multipy::runtime
