#include "multipy/runtime/obj.h"

#include <c10/util/SmallVector.h>

#include <memory>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/gil.h"
#include "runtime/keyword_arguments.h"
#include "runtime/object_state.h"

namespace multipy::runtime {
namespace {

void requireName(const char* name, const char* doing) {
  if (!name) throw InvalidArgument(std::string("cannot ") + doing + ": its name is a null pointer");
}

// An argument may come from another session, but not from another interpreter:
// its address means nothing there.
BorrowedReference argumentFor(const InterpreterCore& core, const Obj& argument) {
  const ObjectState& state = ObjectState::of(argument, "pass an Obj as an argument");
  if (&state.core() != &core)
    throw HandleError(
        "cannot pass an Obj as an argument: it lives in another interpreter than the "
        "object that is called. Pass its value (toIValue()), or take it there as a "
        "ReplicatedObj (InterpreterManager::createMovable)");
  return state.object();
}

}  // namespace

// --- references

Obj ObjectState::adopt(const Entered& inside, NewReference owned, const Failure& failure,
                       const std::shared_ptr<const SessionState>& session) {
  if (!owned) throwFailure(failure, session->wantedBy());
  OwnedReference guarded(inside, std::move(owned));
  auto* state = new ObjectState(nullptr, session);
  state->reference = guarded.release();
  return Obj(state);
}

const ObjectState& ObjectState::of(const Obj& obj, const char* doing) {
  const ObjectState* state = peek(obj);
  if (!state)
    throw InvalidArgument(std::string("cannot ") + doing +
                          ": the Obj is empty (made without a value, or moved from)");
  state->session->requireOpen(doing);
  return *state;
}

Obj::Obj(const Obj& other) noexcept : state_(other.state_) {
  if (state_) state_->uses.fetch_add(1, std::memory_order_relaxed);
}

Obj::~Obj() {
  if (!state_ || state_->uses.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // The state keeps the core's memory alive, and goes with it.
  const std::shared_ptr<InterpreterCore> core = state_->session->core;
  core->drop(state_);
}

// --- operations

at::IValue Obj::toIValue() const& {
  constexpr const char* kDoing = "convert an Obj to an IValue";
  const ObjectState& object = ObjectState::of(*this, kDoing);
  const Entered inside(object.core(), kDoing);
  Failure failure;
  at::IValue value;
  if (!inside.python().toIValue(object.object(), &value, failure))
    throwFailure(failure, object.session->wantedBy());
  return value;
}

at::IValue Obj::toIValue() && {
  constexpr const char* kDoing = "convert an Obj to an IValue";
  const ObjectState& shared = ObjectState::of(*this, kDoing);
  if (shared.uses.load(std::memory_order_acquire) != 1) {
    const Obj one = std::move(*this);
    return one.toIValue();
  }
  Failure failure;
  at::IValue value;
  std::unique_ptr<ObjectState> object;  // outlives being inside: with it may go the interpreter
  {
    const Entered inside(shared.core(), kDoing);
    object.reset(std::exchange(state_, nullptr));
    if (!inside.python().takeIValue(std::move(object->reference), &value, failure))
      throwFailure(failure, object->session->wantedBy());
  }
  return value;
}

Obj Obj::operator()(at::ArrayRef<Obj> args) const {
  constexpr const char* kDoing = "call an Obj";
  const ObjectState& object = ObjectState::of(*this, kDoing);
  c10::SmallVector<BorrowedReference, 8> arguments;
  arguments.reserve(args.size());
  for (const Obj& arg : args) arguments.push_back(argumentFor(object.core(), arg));

  const Entered inside(object.core(), kDoing);
  Failure failure;
  NewReference result =
      inside.python().call(object.object(), arguments.data(), arguments.size(), failure);
  return ObjectState::adopt(inside, std::move(result), failure, object.session);
}

Obj Obj::operator()(at::ArrayRef<at::IValue> args) const {
  constexpr const char* kDoing = "call an Obj";
  const ObjectState& object = ObjectState::of(*this, kDoing);
  const Entered inside(object.core(), kDoing);
  Failure failure;
  NewReference result =
      inside.python().callIValues(object.object(), args.data(), args.size(), nullptr, 0, failure);
  return ObjectState::adopt(inside, std::move(result), failure, object.session);
}

Obj Obj::operator()(std::initializer_list<at::IValue> args) const {
  return (*this)(at::ArrayRef<at::IValue>(args.begin(), args.size()));
}

Obj Obj::callKwargs(const std::vector<at::IValue>& args,
                    const std::unordered_map<std::string, at::IValue>& kwargs) const {
  constexpr const char* kDoing = "call an Obj";
  const ObjectState& object = ObjectState::of(*this, kDoing);
  const KeywordArguments named(kwargs);
  const Entered inside(object.core(), kDoing);
  Failure failure;
  NewReference result = inside.python().callIValues(object.object(), args.data(), args.size(),
                                                    named.data(), named.size(), failure);
  return ObjectState::adopt(inside, std::move(result), failure, object.session);
}

Obj Obj::callKwargs(const std::unordered_map<std::string, at::IValue>& kwargs) const {
  return callKwargs({}, kwargs);
}

bool Obj::hasattr(const char* name) const {
  constexpr const char* kDoing = "ask an Obj for an attribute";
  requireName(name, kDoing);
  const ObjectState& object = ObjectState::of(*this, kDoing);
  const Entered inside(object.core(), kDoing);
  Failure failure;
  const int answer = inside.python().hasattr(object.object(), name, failure);
  if (answer < 0) throwFailure(failure, object.session->wantedBy());
  return answer != 0;
}

Obj Obj::attr(const char* name) const {
  constexpr const char* kDoing = "read an attribute of an Obj";
  requireName(name, kDoing);
  const ObjectState& object = ObjectState::of(*this, kDoing);
  const Entered inside(object.core(), kDoing);
  Failure failure;
  NewReference result = inside.python().attr(object.object(), name, failure);
  return ObjectState::adopt(inside, std::move(result), failure, object.session);
}

}  // namespace multipy::runtime
