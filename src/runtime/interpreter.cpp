#include "multipy/runtime/interpreter.h"

#include <span>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/environment.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/interpreter_core.h"
#include "runtime/interpreter_recipe.h"
#include "runtime/manager_state.h"
#include "runtime/session_state.h"

namespace multipy::runtime {
namespace {

// Options and recipe of the manager, if there is one, with this environment.
InterpreterRecipe recipeFor(const ManagerState* manager, std::shared_ptr<Environment> environment) {
  InterpreterManagerOptions options = manager ? manager->options : InterpreterManagerOptions{};
  options.environment = std::move(environment);
  return manager ? withEnvironment(manager->recipe, options) : prepareRecipe(options);
}

}  // namespace

Interpreter::Interpreter(std::shared_ptr<Environment> environment)
    : Interpreter(nullptr, std::move(environment)) {}

Interpreter::Interpreter(InterpreterManager* manager, std::shared_ptr<Environment> environment)
    : Interpreter(
          InterpreterCore::start(recipeFor(manager ? manager->state_.get() : nullptr, environment)),
          manager ? manager->state_ : nullptr) {
  environment->configureInterpreter(this);
}

Interpreter::Interpreter(std::shared_ptr<InterpreterCore> core,
                         std::shared_ptr<ManagerState> manager) noexcept
    : core_(std::move(core)), manager_(std::move(manager)) {}

Interpreter::~Interpreter() {
  if (core_) InterpreterCore::shutDown({&core_, 1});
}

const std::shared_ptr<InterpreterCore>& Interpreter::core() const {
  if (!core_) throw HandleError("cannot use an Interpreter that has been moved from");
  return core_;
}

InterpreterSession Interpreter::acquireSession() const {
  return SessionState::on(core(), manager_);
}

int Interpreter::slot() const { return core()->slot(); }

}  // namespace multipy::runtime
