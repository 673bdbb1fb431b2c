#include "multipy/runtime/interpreter_manager.h"

#include <algorithm>
#include <utility>

#include "base/parallel_for.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/environment.h"
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

std::vector<InterpreterOptions> optionsOfEach(std::size_t n,
                                              const InterpreterManagerOptions& options) {
  std::vector<InterpreterOptions> each(n, options.interpreters);
  for (std::size_t i = 0; i < n; ++i) {
    if (options.adjust) options.adjust(i, each[i]);
    checkOptions(each[i]);
  }
  return each;
}

std::shared_ptr<ManagerState> startInterpreters(std::size_t n,
                                                const InterpreterManagerOptions& options) {
  if (n == 0)
    throw InvalidArgument(
        "InterpreterManager: the number of interpreters is 0, expected at least 1");
  const std::vector<InterpreterOptions> each = optionsOfEach(n, options);
  auto state = std::make_shared<ManagerState>(options, prepareRecipe(options), n);
  auto& cores = state->places.cores;
  try {
    base::parallelFor(
        n, [&](std::size_t i) { cores[i] = InterpreterCore::start(state->recipe, each[i]); });
    for (std::size_t i = 0; i < n; ++i)
      cores[i]->whenBroken([weak = std::weak_ptr(state), i] {
        if (const auto manager = weak.lock()) manager->users.setAside(static_cast<int>(i));
      });
  } catch (...) {
    std::stable_partition(cores.begin(), cores.end(),
                          [](const auto& core) { return core != nullptr; });
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
    instances_.reserve(nInterp);
  } catch (...) {
    state_->shutDown();
    throw;
  }
  // From here on the Interpreters' own destructors undo it.
  for (std::size_t i = 0; i < nInterp; ++i)
    instances_.push_back(Interpreter(state_->places.cores[i], state_));
  for (Interpreter& interpreter : instances_)
    options.environment->configureInterpreter(&interpreter);
}

InterpreterManager::~InterpreterManager() { state_->shutDown(); }

InterpreterSession InterpreterManager::acquireOne() { return SessionState::onAny(state_); }

InterpreterSession InterpreterManager::acquireOne(const CallOptions& options) {
  return SessionState::onAny(state_, nullptr, &options);
}

PoolStats InterpreterManager::stats() const { return state_->stats(); }
PoolHealth InterpreterManager::health() const { return state_->health(); }

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
