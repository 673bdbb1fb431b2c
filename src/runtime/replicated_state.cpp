#include "runtime/replicated_state.h"

#include <chrono>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/gil.h"
#include "runtime/object_state.h"
#include "runtime/packages/package_storages.h"

namespace multipy::runtime {

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
  Handle importer = state->package ? state->package->importer(core) : nullptr;
  Failure failure;
  if (!core->api().pickle(object.handle, importer, &state->origin.emplace<Pickled>(), failure))
    throwFailure(failure, state->wantedBy());
  return ReplicatedObj(std::move(state));
}

ReplicatedObj ReplicatedState::load(std::string module, std::string file,
                                    std::shared_ptr<ManagerState> manager,
                                    std::shared_ptr<PackageSource> package) {
  auto state = std::make_shared<ReplicatedState>(std::move(manager), std::move(package));
  state->origin =
      PackagedPickle{std::move(module), std::move(file), std::make_shared<PackageStorages>()};
  for (std::size_t others = state->manager->cores.size() - 1;; --others) {
    constexpr const char* kDoing = "load a pickle of a package";
    const InterpreterSession session = SessionState::onAny(state->manager, state->package);
    const auto& core = SessionState::of(&session, kDoing)->core;
    const Entered inside(*core, kDoing);
    if (state->objectUnlessBroken(core, others)) return ReplicatedObj(std::move(state));
  }
}

Handle ReplicatedState::objectIn(const std::shared_ptr<InterpreterCore>& core) {
  if (Handle known = objects.find(*core)) [[likely]]
    return known;
  Failure failure;
  Handle made = bringTo(core, failure);
  if (!made) throwFailure(failure, wantedBy());
  return objects.keep(core, made);
}

Handle ReplicatedState::objectUnlessBroken(const std::shared_ptr<InterpreterCore>& core,
                                           std::size_t others) {
  try {
    return objectIn(core);
  } catch (const PythonException&) {
    if (others == 0 || !core->isBroken()) throw;
    return nullptr;
  }
}

Handle ReplicatedState::bringTo(const std::shared_ptr<InterpreterCore>& core, Failure& failure) {
  Handle importer = package ? package->importer(core) : nullptr;
  if (const auto* packaged = std::get_if<PackagedPickle>(&origin))
    return core->api().loadPickle(importer, *packaged, objects.place(*core), failure);
  return core->api().unpickle(std::get<Pickled>(origin), importer, failure);
}

Obj ReplicatedState::objIn(const std::shared_ptr<SessionState>& session, const char* doing) {
  const Entered inside(*session->core, doing);
  Handle object = objectIn(session->core);
  session->core->api().incref(object);
  return ObjectState::adopt(object, {}, session);
}

at::IValue ReplicatedState::call(const char* method, at::ArrayRef<at::IValue> args,
                                 const KeywordArgument* named, std::size_t nNamed) {
  for (std::size_t others = manager->cores.size() - 1;; --others) {
    const Turn turn(*manager, cost);
    const std::shared_ptr<InterpreterCore>& core = turn.core();
    const Entered inside(*core, "call a ReplicatedObj", turn.priority());
    if (Handle object = objectUnlessBroken(core, others)) [[likely]]
      return callIn(*core, object, method, args, named, nNamed);
  }
}

at::IValue ReplicatedState::callIn(const InterpreterCore& core, Handle object, const char* method,
                                   at::ArrayRef<at::IValue> args, const KeywordArgument* named,
                                   std::size_t nNamed) {
  const InterpreterApi& api = core.api();

  // A reference of our own: while Python runs the GIL may be given up, and the
  // kept object be unloaded.
  api.incref(object);
  const OwnedHandle owned(api, object);

  std::chrono::steady_clock::time_point begun;
  const bool timed = cost.timesNext();
  if (timed) begun = std::chrono::steady_clock::now();
  Failure failure;
  at::IValue result;
  bool done = false;
  if (!method) {
    done = api.callToIValue(object, args.data(), args.size(), named, nNamed, &result, failure);
  } else if (const OwnedHandle bound(api, api.attr(object, method, failure)); bound) {
    done = api.callToIValue(bound.get(), args.data(), args.size(), named, nNamed, &result, failure);
  }
  if (timed) cost.took(std::chrono::steady_clock::now() - begun);
  if (!done) [[unlikely]]
    throwFailure(failure, wantedBy());
  return result;
}

}  // namespace multipy::runtime
