#include "multipy/runtime/replicated_obj.h"

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter.h"
#include "runtime/checked_options.h"
#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/gil.h"
#include "runtime/keyword_arguments.h"
#include "runtime/replicated_state.h"

namespace multipy::runtime {

static constexpr const char* kBring = "bring a ReplicatedObj into a session";

ReplicatedState& ReplicatedObj::state() const {
  if (!state_) [[unlikely]]
    throw InvalidArgument(
        "cannot use a ReplicatedObj: it is empty (made without a value, or moved "
        "from); get one from Package::loadPickle or "
        "InterpreterManager::createMovable");
  return *state_;
}

InterpreterSession ReplicatedObj::acquireSession(const Interpreter* onThisInterpreter) const {
  const ReplicatedState& replicated = state();
  const auto version = replicated.version();
  InterpreterSession session = onThisInterpreter
                                   ? SessionState::on(onThisInterpreter->guest(),
                                                      onThisInterpreter->manager_, version->package)
                                   : SessionState::onAny(replicated.manager, version->package);
  session.self = ReplicatedState::objIn(*version, SessionState::of(&session, kBring), kBring);
  return session;
}

InterpreterSession ReplicatedObj::acquireSession(const CallOptions& options) const {
  const ReplicatedState& replicated = state();
  const auto version = replicated.version();
  InterpreterSession session =
      SessionState::onAny(replicated.manager, version->package, &checked(options));
  session.self = ReplicatedState::objIn(*version, SessionState::of(&session, kBring), kBring);
  return session;
}

at::IValue ReplicatedObj::call(at::ArrayRef<at::IValue> args, const CallOptions& options,
                               const std::unordered_map<std::string, at::IValue>& kwargs) const {
  const KeywordArguments named(kwargs);
  return state().call(nullptr, args, named.data(), named.size(), &checked(options));
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
  const auto version = state().version();
  if (onThisInterpreter)
    version->objects.drop(*onThisInterpreter->core());
  else
    version->objects.dropAll();
}

Obj ReplicatedObj::toObj(InterpreterSession* session) const {
  return ReplicatedState::objIn(*state().version(), SessionState::of(session, kBring), kBring);
}

void ReplicatedObj::switchTo(const ReplicatedObj& next,
                             const std::function<void(InterpreterSession&)>& warmUp) const {
  state().switchTo(next, warmUp);
}

void ReplicatedObj::shareCalls(const ReplicatedObj& other, double share,
                               const std::function<void(InterpreterSession&)>& warmUp) const {
  state().shareCalls(other, share, warmUp);
}

ObjectStats ReplicatedObj::stats() const { return state().stats(); }

}  // namespace multipy::runtime
