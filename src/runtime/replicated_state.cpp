#include "runtime/replicated_state.h"

#include <chrono>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "runtime/failure.h"
#include "runtime/gil.h"
#include "runtime/object_state.h"

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
  if (!core->api().pickle(object.handle, importer, &state->pickled, failure))
    throwFailure(failure, state->wantedBy());
  return ReplicatedObj(std::move(state));
}

Handle ReplicatedState::objectIn(const std::shared_ptr<InterpreterCore>& core) {
  if (Handle known = objects.find(*core)) [[likely]]
    return known;
  Handle importer = package ? package->importer(core) : nullptr;
  Failure failure;
  Handle made = core->api().unpickle(pickled, importer, failure);
  if (!made) throwFailure(failure, wantedBy());
  return objects.keep(core, made);
}

Obj ReplicatedState::objIn(const std::shared_ptr<SessionState>& session, const char* doing) {
  const Entered inside(*session->core, doing);
  Handle object = objectIn(session->core);
  session->core->api().incref(object);
  return ObjectState::adopt(object, {}, session);
}

at::IValue ReplicatedState::call(const char* method, at::ArrayRef<at::IValue> args,
                                 const KeywordArgument* named, std::size_t nNamed) {
  const Turn turn(*manager, cost);
  const std::shared_ptr<InterpreterCore>& core = turn.core();
  const Entered inside(*core, "call a ReplicatedObj", turn.pace());
  const InterpreterApi& api = core->api();

  // A reference of our own: while Python runs the GIL may be given up, and the
  // kept object be unloaded.
  Handle object = objectIn(core);
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
