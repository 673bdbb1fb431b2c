#include "multipy/runtime/interpreter_manager.h"

#include <string>
#include <utility>

#include "base/interpreter_id.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/environment.h"
#include "process/fork_guard.h"
#include "runtime/checked_options.h"
#include "runtime/manager_state.h"
#include "runtime/packages/package_source.h"
#include "runtime/replicated_state.h"
#include "runtime/session_state.h"

namespace multipy::runtime {
namespace {

InterpreterManagerOptions withEnvironment(std::shared_ptr<Environment> environment) {
  InterpreterManagerOptions options;
  options.environment = std::move(environment);
  return options;
}

std::shared_ptr<ManagerState> startInterpreters(std::size_t n,
                                                const InterpreterManagerOptions& options) {
  constexpr std::size_t kMost = InterpreterId::kMost - 1;  // one is the resident copy's
  if (n == 0 || n > kMost)
    throw InvalidArgument("InterpreterManager: the number of interpreters is " + std::to_string(n) +
                          ", expected 1 to " + std::to_string(kMost));
  auto state = std::make_shared<ManagerState>(options, prepareRecipe(options), n);
  try {
    state->keeper.startFirst(n);
  } catch (...) {
    state->shutDown();
    throw;
  }
  return state;
}

}  // namespace

InterpreterManager::InterpreterManager(std::size_t nInterp,
                                       std::shared_ptr<Environment> environment)
    : InterpreterManager(nInterp, withEnvironment(std::move(environment))) {}

InterpreterManager::InterpreterManager(std::size_t nInterp,
                                       const InterpreterManagerOptions& options)
    : state_(startInterpreters(nInterp, options)) {
  try {
    // For as many as there may ever be: they stay where they are.
    instances_.reserve(state_->places.cores.size());
  } catch (...) {
    state_->shutDown();
    throw;
  }
  for (std::size_t i = 0; i < state_->places.cores.size(); ++i)
    instances_.push_back(Interpreter(state_->keeper.seat(i), state_));
}

InterpreterManager::~InterpreterManager() { state_->shutDown(); }

InterpreterSession InterpreterManager::acquireOne() { return SessionState::onAny(state_); }

InterpreterSession InterpreterManager::acquireOne(const CallOptions& options) {
  return SessionState::onAny(state_, nullptr, &checked(options));
}

at::ArrayRef<Interpreter> InterpreterManager::allInstances() const noexcept {
  return {instances_.data(), state_->keeper.seats()};
}

void InterpreterManager::replace(int slot) { state_->keeper.replace(slot); }
void InterpreterManager::resize(std::size_t n) { state_->keeper.resize(n); }
void InterpreterManager::setWarmUp(std::function<void(const Interpreter&)> warmUp) {
  state_->keeper.setWarmUp(std::move(warmUp));
}

PoolStats InterpreterManager::stats() const { return state_->stats(); }
PoolHealth InterpreterManager::health() const { return state_->health(); }

void InterpreterManager::setObserver(std::shared_ptr<PoolObserver> observer) {
  state_->observer.set(std::move(observer));
}

bool InterpreterManager::interrupt(std::uint64_t call) {
  process::refuseInForkedChild("interrupt a call");
  return state_->interruptByHand(call);
}

void InterpreterManager::debugLimitInterpreters(std::size_t n) {
  state_->users.setResourceLimit(n);
}

Package InterpreterManager::loadPackage(const std::string& path) {
  return Package(std::make_shared<PackageSource>(path, std::make_shared<FileReader>(path)), state_);
}

Package InterpreterManager::loadPackage(
    std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader) {
  return Package(std::make_shared<PackageSource>("(given as a reader)",
                                                 std::make_shared<SerialReader>(std::move(reader))),
                 state_);
}

void InterpreterManager::registerModuleSource(std::string name, std::string source) {
  state_->recipe.sources->add(std::move(name), std::move(source));
}

std::size_t InterpreterManager::countRegisteredModuleSources() const {
  return state_->recipe.sources->count();
}

ReplicatedObj InterpreterManager::createMovable(const Obj& obj, InterpreterSession* session) {
  return ReplicatedState::make(obj, session, state_,
                               SessionState::of(session, "create a movable")->package);
}

}  // namespace multipy::runtime
