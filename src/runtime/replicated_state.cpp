#include "runtime/replicated_state.h"

#include <chrono>
#include <exception>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "process/fork_guard.h"
#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/gil.h"
#include "runtime/interruptible_call.h"
#include "runtime/object_state.h"
#include "runtime/packages/package_storages.h"

namespace multipy::runtime {
namespace {

std::string textOf(const Entered& inside, BorrowedReference object, const char* attribute) {
  Failure ignored;
  at::IValue text;
  const OwnedReference found(inside, inside.python().attr(object, attribute, ignored));
  const bool had =
      found && inside.python().toIValue(found.get(), &text, ignored) && text.isString();
  return had ? text.toStringRef() : std::string();
}

/// That of a function or class, or of the object's class.
std::string nameOf(const Entered& inside, BorrowedReference object) {
  if (std::string name = textOf(inside, object, "__qualname__"); !name.empty()) return name;
  Failure ignored;
  const OwnedReference type(inside, inside.python().attr(object, "__class__", ignored));
  return type ? textOf(inside, type.get(), "__qualname__") : std::string();
}

}  // namespace

ReplicatedState::ReplicatedState(std::shared_ptr<ManagerState> of,
                                 std::shared_ptr<PackageSource> from)
    : manager(std::move(of)),
      name(keptName("a ReplicatedObj")),
      own_(std::make_shared<ObjectVersion>(std::move(from))),
      first_(own_.get()) {}

ReplicatedObj ReplicatedState::make(const Obj& obj, const InterpreterSession* session,
                                    std::shared_ptr<ManagerState> manager,
                                    std::shared_ptr<PackageSource> package) {
  constexpr const char* kDoing = "create a movable";
  const auto& owner = SessionState::of(session, kDoing);
  const ObjectState& object = ObjectState::of(obj, kDoing);
  if (object.session != owner)
    throw HandleError(
        "Cannot create movable from an object that lives in different session: the "
        "Obj was not made through the InterpreterSession that was given with it; give "
        "the one that it was made through (InterpreterSession::isOwner tells)");

  auto state = std::make_shared<ReplicatedState>(std::move(manager), std::move(package));
  ObjectVersion& version = *state->first_;
  const auto& core = owner->core;
  const Entered inside(*core, kDoing);
  const BorrowedReference importer = version.package ? version.package->importer(inside) : nullptr;
  Failure failure;
  if (!inside.python().pickle(object.object(), importer, &version.origin.emplace<Pickled>(),
                              failure))
    throwFailure(failure, version.wantedBy());
  state->name = keptName(nameOf(inside, object.object()));
  return ReplicatedObj(std::move(state));
}

ReplicatedObj ReplicatedState::load(std::string module, std::string file,
                                    std::shared_ptr<ManagerState> manager,
                                    std::shared_ptr<PackageSource> package) {
  auto state = std::make_shared<ReplicatedState>(std::move(manager), std::move(package));
  ObjectVersion& version = *state->first_;
  state->name = keptName(file + " of " + version.package->name());
  version.origin =
      PackagedPickle{std::move(module), std::move(file), std::make_shared<PackageStorages>()};
  for (std::size_t tried = 1;; ++tried) {
    constexpr const char* kDoing = "load a pickle of a package";
    const InterpreterSession session = SessionState::onAny(state->manager, version.package);
    const auto& core = SessionState::of(&session, kDoing)->core;
    const Entered inside(*core, kDoing);
    if (state->objectUnlessBroken(version, inside, tried)) return ReplicatedObj(std::move(state));
  }
}

BorrowedReference ReplicatedState::objectUnlessBroken(ObjectVersion& version, const Entered& inside,
                                                      std::size_t tried) {
  try {
    return version.objectIn(inside);
  } catch (const PythonException&) {
    if (tried >= manager->users.counts().open || !inside.core().isBroken()) throw;
    return nullptr;
  }
}

Obj ReplicatedState::objIn(ObjectVersion& version, const std::shared_ptr<SessionState>& session,
                           const char* doing) {
  const Entered inside(*session->core, doing);
  NewReference object = inside.python().newReference(version.objectIn(inside));
  return ObjectState::adopt(inside, std::move(object), {}, session);
}

// --- calls

at::IValue ReplicatedState::callObserved(const char* method, at::ArrayRef<at::IValue> args,
                                         const KeywordArgument* named, std::size_t nNamed,
                                         const CallOptions* options,
                                         CallOptions::Clock::time_point asked) {
  ObservedCall observed(manager->observer, name, options, asked);
  try {
    at::IValue result = make(method, args, named, nNamed, options, &observed.trace);
    observed.returned();
    return result;
  } catch (...) {
    observed.threw(std::current_exception());
    throw;
  }
}

at::IValue ReplicatedState::make(const char* method, at::ArrayRef<at::IValue> args,
                                 const KeywordArgument* named, std::size_t nNamed,
                                 const CallOptions* options, CallTrace* trace) {
  using Clock = std::chrono::steady_clock;
  for (std::size_t tried = 1;; ++tried) {
    Chosen chosen;
    if (hasOthers_.load(std::memory_order_acquire)) [[unlikely]] {
      chosen = choose();
      if (chosen.other) return chosen.other->make(method, args, named, nNamed, options, trace);
    }
    const Turn turn(*manager, cost, *name, options);
    const unsigned timed = cost.timesNext();
    Clock::time_point hadTurn;
    if (timed != 0) hadTurn = Clock::now();
    const Entered inside(*turn.core(), "call a ReplicatedObj", turn.priority());
    if (timed != 0) manager->tallies.gotGil(turn.place(), Clock::now() - hadTurn, timed);
    InterruptibleCall call(*manager, turn, inside, name, options);
    if (!chosen.own && hasOthers_.load(std::memory_order_acquire)) [[unlikely]] {
      --tried;
      continue;  // since it has been in line
    }
    if (tried == 1) call.begins(turn);  // and not once more where an interpreter turns out broken
    if (trace) [[unlikely]]
      *trace = {name, call.id(), turn.core()->slot().number(), Clock::now()};
    ObjectVersion& version = chosen.own ? *chosen.own : *first_;
    try {
      if (const BorrowedReference object = objectUnlessBroken(version, inside, tried)) [[likely]]
        return callIn(version, inside, turn.place(), timed, object, method, args, named, nNamed);
    } catch (const PythonException& error) {
      call.raised(error);
      manager->tallies.failed(turn.place(), error.type());
      errors_.fetch_add(1, std::memory_order_relaxed);
      throw;
    }
  }
}

at::IValue ReplicatedState::callIn(const ObjectVersion& version, const Entered& inside, int place,
                                   unsigned timed, BorrowedReference object, const char* method,
                                   at::ArrayRef<at::IValue> args, const KeywordArgument* named,
                                   std::size_t nNamed) {
  const InterpreterApi::WithGil& python = inside.python();

  // A reference of our own: while Python runs the GIL may be given up, and the
  // kept object be unloaded.
  const OwnedReference owned(inside, python.newReference(object));

  std::chrono::steady_clock::time_point begun;
  if (timed != 0) begun = std::chrono::steady_clock::now();
  Failure failure;
  at::IValue result;
  bool done = false;
  if (!method) {
    done = python.callToIValue(object, args.data(), args.size(), named, nNamed, &result, failure);
  } else if (const OwnedReference bound(inside, python.attr(object, method, failure)); bound) {
    done =
        python.callToIValue(bound.get(), args.data(), args.size(), named, nNamed, &result, failure);
  }
  if (timed != 0) {
    const auto took = std::chrono::steady_clock::now() - begun;
    cost.took(took);
    manager->tallies.ran(place, took, timed);
    runTime_.add(took, timed);
  }
  if (!done) [[unlikely]]
    throwFailure(failure, version.wantedBy());
  return result;
}

ObjectStats ReplicatedState::stats() const {
  return {.model = *name,
          .errors = errors_.load(std::memory_order_relaxed),
          .runTime = runTime_.read()};
}

// --- calls that no thread of the program waits for

void ReplicatedState::start(const std::shared_ptr<QueuedCall>& call) {
  process::refuseInForkedChild("call a ReplicatedObj");
  switch (CallQueue::refusalOf(&call->options)) {
    case CallQueue::Refusal::DeadlinePassed:
      refuse(*call, QueuedCall::Refusal::DeadlinePassed);
    case CallQueue::Refusal::Stopped:
      refuse(*call, QueuedCall::Refusal::Stopped);
    default:
      break;
  }
  switch (manager->queued.add(call)) {
    case QueuedCalls::Added::Yes:
      return;
    case QueuedCalls::Added::LineIsFull:
      refuse(*call, QueuedCall::Refusal::LineIsFull);
    case QueuedCalls::Added::Ended:
      refuse(*call, QueuedCall::Refusal::ManagerGone);
  }
}

void ReplicatedState::refuse(const QueuedCall& call, QueuedCall::Refusal why) {
  const ObservedCall observed(manager->observer, name, &call.options, call.since);
  try {
    throwRefused(why);
  } catch (...) {
    observed.threw(std::current_exception());
    throw;
  }
}

void ReplicatedState::throwRefused(QueuedCall::Refusal why) const {
  switch (why) {
    case QueuedCall::Refusal::LineIsFull:
      manager->throwRefused({.refused = CallQueue::Refusal::QueueFull}, "call " + *name);
    case QueuedCall::Refusal::DeadlinePassed:
      manager->throwRefused({.refused = CallQueue::Refusal::DeadlinePassed}, "call " + *name);
    case QueuedCall::Refusal::Stopped:
      manager->throwRefused({.refused = CallQueue::Refusal::Stopped}, "call " + *name);
    case QueuedCall::Refusal::ManagerGone:
      manager->throwRefused({.refused = CallQueue::Refusal::Ended}, "call " + *name);
  }
  std::terminate();
}

// --- others in its place

ReplicatedState::Chosen ReplicatedState::choose() const {
  const base::Lock lock(mutex_);
  if (sharer_ && (due_ += share_) >= 1) {
    due_ -= 1;
    return {sharer_, nullptr};
  }
  if (successor_) return {successor_, nullptr};
  return {nullptr, own_};
}

std::shared_ptr<ObjectVersion> ReplicatedState::version() const {
  Chosen chosen = choose();
  while (chosen.other) chosen = chosen.other->choose();
  return std::move(chosen.own);
}

ReplicatedState::Others ReplicatedState::others() const {
  const base::Lock lock(mutex_);
  return {successor_, sharer_};
}

bool ReplicatedState::leadsTo(const ReplicatedState& other) const {
  if (this == &other) return true;
  const Others next = others();
  return (next.successor && next.successor->leadsTo(other)) ||
         (next.sharer && next.sharer->leadsTo(other));
}

std::shared_ptr<ReplicatedState> ReplicatedState::checkedOther(const ReplicatedObj& other,
                                                               const char* doing) {
  std::shared_ptr<ReplicatedState> found = other.state_;
  other.state();  // is not empty
  if (found->manager != manager)
    throw InvalidArgument(std::string("cannot ") + doing + " " + *found->name +
                          ": it is of another InterpreterManager; load it with the same one");
  while (auto next = found->others().successor) found = std::move(next);
  if (found->leadsTo(*this))
    throw InvalidArgument(
        std::string("cannot ") + doing + " " + *name +
        ": it is that object, or gives calls to it; load the other one into a ReplicatedObj of its "
        "own");
  return found;
}

void ReplicatedState::switchTo(const ReplicatedObj& next, const WarmUp& warmUp) {
  process::refuseInForkedChild("switch a ReplicatedObj");
  manager->keeper.onAll("switch " + *name, [&](PoolKeeper::All& all) {
    const std::shared_ptr<ReplicatedState> to = checkedOther(next, "switch to");
    all.load(*to, warmUp);
    std::shared_ptr<ObjectVersion> old;
    std::shared_ptr<ReplicatedState> oldSuccessor, oldSharer;
    {
      const base::Lock lock(mutex_);
      old.swap(own_);
      oldSharer.swap(sharer_);
      oldSuccessor = std::exchange(successor_, to);
      hasOthers_.store(true);
    }
    if (old) all.keepWhileCallsAreUnderWay(std::move(old));
  });
}

void ReplicatedState::shareCalls(const ReplicatedObj& other, double share, const WarmUp& warmUp) {
  process::refuseInForkedChild("share the calls of a ReplicatedObj");
  if (!(share >= 0 && share <= 1))
    throw InvalidArgument("cannot share the calls of " + *name + ": the share is " +
                          std::to_string(share) + ", expected 0 to 1");
  manager->keeper.onAll("share the calls of " + *name, [&](PoolKeeper::All& all) {
    std::shared_ptr<ReplicatedState> with;
    if (share > 0) {
      with = checkedOther(other, "share calls with");
      all.load(*with, warmUp);
    }
    const base::Lock lock(mutex_);
    sharer_.swap(with);
    share_ = share;
    due_ = 0;
    hasOthers_.store(sharer_ || successor_);
  });
}

}  // namespace multipy::runtime
