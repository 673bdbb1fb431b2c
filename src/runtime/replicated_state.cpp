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
  const auto& core = owner->core;
  const Entered inside(*core, kDoing);
  const BorrowedReference importer = state->package ? state->package->importer(inside) : nullptr;
  Failure failure;
  if (!inside.python().pickle(object.object(), importer, &state->origin.emplace<Pickled>(),
                              failure))
    throwFailure(failure, state->wantedBy());
  state->name = keptName(nameOf(inside, object.object()));
  return ReplicatedObj(std::move(state));
}

ReplicatedObj ReplicatedState::load(std::string module, std::string file,
                                    std::shared_ptr<ManagerState> manager,
                                    std::shared_ptr<PackageSource> package) {
  auto state = std::make_shared<ReplicatedState>(std::move(manager), std::move(package));
  state->name = keptName(file + " of " + state->package->name());
  state->origin =
      PackagedPickle{std::move(module), std::move(file), std::make_shared<PackageStorages>()};
  for (std::size_t tried = 1;; ++tried) {
    constexpr const char* kDoing = "load a pickle of a package";
    const InterpreterSession session = SessionState::onAny(state->manager, state->package);
    const auto& core = SessionState::of(&session, kDoing)->core;
    const Entered inside(*core, kDoing);
    if (state->objectUnlessBroken(inside, tried)) return ReplicatedObj(std::move(state));
  }
}

BorrowedReference ReplicatedState::objectIn(const Entered& inside) {
  if (const BorrowedReference known = objects.find(inside)) [[likely]]
    return known;
  Failure failure;
  NewReference made = bringTo(inside, failure);
  if (!made) throwFailure(failure, wantedBy());
  return objects.keep(inside, std::move(made));
}

BorrowedReference ReplicatedState::objectUnlessBroken(const Entered& inside, std::size_t tried) {
  try {
    return objectIn(inside);
  } catch (const PythonException&) {
    if (tried >= manager->users.counts().open || !inside.core().isBroken()) throw;
    return nullptr;
  }
}

NewReference ReplicatedState::bringTo(const Entered& inside, Failure& failure) {
  const BorrowedReference importer = package ? package->importer(inside) : nullptr;
  if (const auto* packaged = std::get_if<PackagedPickle>(&origin))
    return inside.python().loadPickle(importer, *packaged, objects.place(inside), failure);
  return inside.python().unpickle(std::get<Pickled>(origin), importer, failure);
}

Obj ReplicatedState::objIn(const std::shared_ptr<SessionState>& session, const char* doing) {
  const Entered inside(*session->core, doing);
  NewReference object = inside.python().newReference(objectIn(inside));
  return ObjectState::adopt(inside, std::move(object), {}, session);
}

at::IValue ReplicatedState::call(const char* method, at::ArrayRef<at::IValue> args,
                                 const KeywordArgument* named, std::size_t nNamed,
                                 const CallOptions* options) {
  for (std::size_t tried = 1;; ++tried) {
    const Turn turn(*manager, cost, *name, options);
    const Entered inside(*turn.core(), "call a ReplicatedObj", turn.priority());
    const InterruptibleCall call(*manager, turn, inside, name, options);
    try {
      if (const BorrowedReference object = objectUnlessBroken(inside, tried)) [[likely]]
        return callIn(inside, object, method, args, named, nNamed);
    } catch (const PythonException& error) {
      call.raised(error);
      manager->tallies.failed(turn.place(), error.type());
      throw;
    }
  }
}

at::IValue ReplicatedState::callIn(const Entered& inside, BorrowedReference object,
                                   const char* method, at::ArrayRef<at::IValue> args,
                                   const KeywordArgument* named, std::size_t nNamed) {
  const InterpreterApi::WithGil& python = inside.python();

  // A reference of our own: while Python runs the GIL may be given up, and the
  // kept object be unloaded.
  const OwnedReference owned(inside, python.newReference(object));

  std::chrono::steady_clock::time_point begun;
  const unsigned timed = cost.timesNext();
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
    manager->tallies.runTime.add(took, timed);
  }
  if (!done) [[unlikely]]
    throwFailure(failure, wantedBy());
  return result;
}

// --- calls that no thread of the program waits for

void ReplicatedState::start(std::shared_ptr<QueuedCall> call) {
  process::refuseInForkedChild("call a ReplicatedObj");
  switch (manager->queued.add(std::move(call))) {
    case QueuedCalls::Added::Yes:
      return;
    case QueuedCalls::Added::LineIsFull:
      manager->throwRefused({.refused = CallQueue::Refusal::QueueFull}, "call " + *name);
    case QueuedCalls::Added::Ended:
      refuse(QueuedCall::Refusal::ManagerGone);
  }
}

void ReplicatedState::refuse(QueuedCall::Refusal why) {
  switch (why) {
    case QueuedCall::Refusal::DeadlinePassed:
      manager->throwRefused({.refused = CallQueue::Refusal::DeadlinePassed}, "call " + *name);
    case QueuedCall::Refusal::Stopped:
      manager->throwRefused({.refused = CallQueue::Refusal::Stopped}, "call " + *name);
    case QueuedCall::Refusal::ManagerGone:
      throw HandleError(
          "cannot call " + *name +
          ": its InterpreterManager has been destroyed before the call began; keep that "
          "alive until its calls have ended");
  }
  std::terminate();
}

}  // namespace multipy::runtime
