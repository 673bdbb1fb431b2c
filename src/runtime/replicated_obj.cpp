#include "multipy/runtime/replicated_obj.h"

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter.h"
#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/gil.h"
#include "runtime/keyword_arguments.h"
#include "runtime/replicated_state.h"

namespace multipy::runtime {

ReplicatedState& ReplicatedObj::state() const {
  if (!state_) [[unlikely]]
    throw InvalidArgument(
        "cannot use a ReplicatedObj: it is empty (made without a value, or moved "
        "from); get one from Package::loadPickle or "
        "InterpreterManager::createMovable");
  return *state_;
}

InterpreterSession ReplicatedObj::acquireSession(const Interpreter* onThisInterpreter) const {
  ReplicatedState& replicated = state();
  InterpreterSession session =
      onThisInterpreter ? SessionState::on(onThisInterpreter->core(), onThisInterpreter->manager_,
                                           replicated.package)
                        : SessionState::onAny(replicated.manager, replicated.package);
  session.self = session.fromMovable(*this);
  return session;
}

InterpreterSession ReplicatedObj::acquireSession(const CallOptions& options) const {
  ReplicatedState& replicated = state();
  InterpreterSession session =
      SessionState::onAny(replicated.manager, replicated.package, &options);
  session.self = session.fromMovable(*this);
  return session;
}

at::IValue ReplicatedObj::call(at::ArrayRef<at::IValue> args, const CallOptions& options,
                               const std::unordered_map<std::string, at::IValue>& kwargs) const {
  const KeywordArguments named(kwargs);
  return state().call(nullptr, args, named.data(), named.size(), &options);
}

at::IValue ReplicatedObj::operator()(at::ArrayRef<at::IValue> args) const {
  return state().call(nullptr, args, nullptr, 0);
}

at::IValue ReplicatedObj::callKwargs(
    const std::vector<at::IValue>& args,
    const std::unordered_map<std::string, at::IValue>& kwargs) const {
  const KeywordArguments named(kwargs);
  return state().call(nullptr, args, named.data(), named.size());
}

at::IValue ReplicatedObj::callKwargs(
    const std::unordered_map<std::string, at::IValue>& kwargs) const {
  return callKwargs({}, kwargs);
}

bool ReplicatedObj::hasattr(const char* name) const { return acquireSession().self.hasattr(name); }

void ReplicatedObj::unload(const Interpreter* onThisInterpreter) {
  if (onThisInterpreter)
    state().objects.drop(*onThisInterpreter->core());
  else
    state().objects.dropAll();
}

Obj ReplicatedObj::toObj(InterpreterSession* session) const {
  constexpr const char* kDoing = "bring a ReplicatedObj into a session";
  return state().objIn(SessionState::of(session, kDoing), kDoing);
}

}  // namespace multipy::runtime
