#include "multipy/runtime/interpreter_session.h"

#include <utility>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/replicated_obj.h"
#include "process/ownership.h"
#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/gil.h"
#include "runtime/object_state.h"
#include "runtime/replicated_state.h"
#include "runtime/session_state.h"

namespace multipy::runtime {

// --- the state

InterpreterSession SessionState::onAny(const std::shared_ptr<ManagerState>& manager,
                                       std::shared_ptr<PackageSource> package,
                                       const CallOptions* options) {
  Reservation reservation(*manager, options);
  const auto core = reservation.core();
  core->requireOpen("acquire a session");
  auto state = std::make_shared<SessionState>(core, manager, std::move(package));
  state->reservation.emplace(std::move(reservation));
  return InterpreterSession(std::move(state));
}

InterpreterSession SessionState::on(Guest guest, std::shared_ptr<ManagerState> manager,
                                    std::shared_ptr<PackageSource> package) {
  guest.core()->requireOpen("acquire a session");
  auto state = std::make_shared<SessionState>(guest.core(), std::move(manager), std::move(package));
  state->guest.emplace(std::move(guest));
  return InterpreterSession(std::move(state));
}

InterpreterSession SessionState::here() {
  const InterpreterId slot = process::Ownership::entered();
  auto core = slot.isInterpreter() ? InterpreterCore::keptInSlot(slot) : nullptr;
  if (!core) throw InternalError("a session is wanted here, but this thread is in no interpreter");
  return on(Guest(std::move(core)), nullptr);
}

const std::shared_ptr<SessionState>& SessionState::of(const InterpreterSession* session,
                                                      const char* doing) {
  if (!session)
    throw InvalidArgument(std::string("cannot ") + doing + ": the session is a null pointer");
  if (!session->state_)
    throw HandleError(std::string("cannot ") + doing + ": the session has been moved from");
  return session->state_;
}

void SessionState::requireOpen(const char* doing) const {
  if (open.load(std::memory_order_acquire)) [[likely]]
    return;
  throw HandleError(
      std::string("cannot ") + doing +
      ": the InterpreterSession through which it was made has ended. Keep the session "
      "for as long as its Objs are used, or keep the object as a ReplicatedObj "
      "(InterpreterManager::createMovable)");
}

std::string_view SessionState::wantedBy() const noexcept {
  return package ? std::string_view(package->name()) : std::string_view();
}

// --- the session

InterpreterSession::InterpreterSession(std::shared_ptr<SessionState> state) noexcept
    : state_(std::move(state)) {}

InterpreterSession& InterpreterSession::operator=(InterpreterSession&& other) noexcept {
  if (this == &other) return *this;
  end();
  self = std::move(other.self);
  state_ = std::move(other.state_);
  onEnd_ = std::exchange(other.onEnd_, nullptr);
  return *this;
}

InterpreterSession::~InterpreterSession() { end(); }

void InterpreterSession::end() noexcept {
  if (!state_) return;
  state_->open.store(false, std::memory_order_release);
  self = Obj();
  if (onEnd_) std::exchange(onEnd_, nullptr)();
  state_->reservation.reset();
  state_->guest.reset();
  state_.reset();
}

const SessionState& InterpreterSession::state() const {
  return *SessionState::of(this, "use a session");
}

bool InterpreterSession::isOwner(const Obj& obj) const noexcept {
  const ObjectState* object = ObjectState::peek(obj);
  return object && state_ && object->session == state_;
}

Obj InterpreterSession::global(const char* module, const char* name) const {
  if (!module || !name)
    throw InvalidArgument(
        "cannot import a global: the name of the module or of its attribute is a "
        "null pointer");
  const auto& session = SessionState::of(this, "import a global");
  const Entered inside(*session->core, "import a global");
  Failure failure;
  NewReference result = inside.python().global(module, name, failure);
  if (!result) throwFailure(failure);  // asked for by the program, not by a package
  return ObjectState::adopt(inside, std::move(result), failure, session);
}

Obj InterpreterSession::fromIValue(const at::IValue& value) const {
  const auto& session = SessionState::of(this, "convert an IValue to an Obj");
  const Entered inside(*session->core, "convert an IValue to an Obj");
  Failure failure;
  NewReference result = inside.python().fromIValue(value, failure);
  return ObjectState::adopt(inside, std::move(result), failure, session);
}

ReplicatedObj InterpreterSession::createMovable(const Obj& obj) {
  const auto& session = SessionState::of(this, "create a movable");
  if (!session->manager)
    throw HandleError(
        "cannot create a movable through this session: its interpreter stands alone; "
        "call InterpreterManager::createMovable(obj, &session) of the manager whose "
        "interpreters shall have it");
  return ReplicatedState::make(obj, this, session->manager, session->package);
}

Obj InterpreterSession::fromMovable(const ReplicatedObj& movable) const {
  constexpr const char* kDoing = "bring a ReplicatedObj into a session";
  const auto& session = SessionState::of(this, kDoing);
  return ReplicatedState::objIn(*movable.state().version(), session, kDoing);
}

bool InterpreterSession::attachDeconstructorCallback(std::function<void()> callback) {
  if (onEnd_) return false;
  onEnd_ = std::move(callback);
  return true;
}

InterpreterSession::Scope InterpreterSession::enter() const {
  return Scope(SessionState::of(this, "enter an interpreter"));
}

InterpreterSession::Scope::Scope(std::shared_ptr<const SessionState> session)
    : session_(std::move(session)),
      entered_(std::make_unique<Entered>(*session_->core, "enter an interpreter")) {}

InterpreterSession::Scope::~Scope() = default;

}  // namespace multipy::runtime
