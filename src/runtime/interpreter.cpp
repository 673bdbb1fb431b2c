#include "multipy/runtime/interpreter.h"

#include <span>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/environment.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/interpreter/interpreter_core.h"
#include "runtime/interpreter/interpreter_recipe.h"
#include "runtime/manager_state.h"
#include "runtime/seat.h"
#include "runtime/session_state.h"

namespace multipy::runtime {
namespace {

std::shared_ptr<InterpreterCore> startAlone(std::shared_ptr<Environment> environment,
                                            InterpreterOptions given) {
  InterpreterManagerOptions options;
  options.environment = std::move(environment);
  options.interpreters = std::move(given);
  checkOptions(options.interpreters);
  return InterpreterCore::start(prepareRecipe(options), options.interpreters);
}

// With the manager's options and recipe, but for the environment.
std::shared_ptr<InterpreterCore> startBeside(const ManagerState& manager,
                                             std::shared_ptr<Environment> environment) {
  InterpreterManagerOptions options = manager.options;
  options.environment = std::move(environment);
  return InterpreterCore::start(withEnvironment(manager.recipe, options), options.interpreters);
}

}  // namespace

Interpreter::Interpreter(std::shared_ptr<Environment> environment, InterpreterOptions options)
    : Interpreter(std::make_shared<Seat>(startAlone(environment, std::move(options))), nullptr) {
  environment->configureInterpreter(this);
}

Interpreter::Interpreter(InterpreterManager* manager, std::shared_ptr<Environment> environment)
    : Interpreter(std::make_shared<Seat>(manager ? startBeside(*manager->state_, environment)
                                                 : startAlone(environment, {})),
                  manager ? manager->state_ : nullptr) {
  environment->configureInterpreter(this);
}

Interpreter::Interpreter(std::shared_ptr<Seat> seat, std::shared_ptr<ManagerState> manager) noexcept
    : seat_(std::move(seat)), manager_(std::move(manager)) {}

Interpreter::~Interpreter() {
  const auto core = seat_ ? seat_->exchange(nullptr) : nullptr;
  if (core) InterpreterCore::shutDown({&core, 1});
}

Guest Interpreter::guest() const {
  if (!seat_) throw HandleError("cannot use an Interpreter that has been moved from");
  Guest guest = seat_->guest();
  if (!guest.core())
    throw HandleError(
        "cannot use this Interpreter: its InterpreterManager has been resized to fewer, and it is "
        "none of those; take one that allInstances() has now");
  return guest;
}

std::shared_ptr<InterpreterCore> Interpreter::core() const { return guest().core(); }

InterpreterSession Interpreter::acquireSession() const {
  return SessionState::on(guest(), manager_);
}

int Interpreter::slot() const { return core()->slot().number(); }

std::string Interpreter::whyBroken() const { return core()->whyBroken(); }

std::vector<LoadedLibrary> Interpreter::libraries() const {
  std::vector<LoadedLibrary> libraries;
  for (auto& loaded : core()->libraries())
    libraries.push_back({std::move(loaded.original), loaded.isolation == loader::Isolation::Private,
                         std::move(loaded.reason)});
  return libraries;
}

}  // namespace multipy::runtime
