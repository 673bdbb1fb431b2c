#include "integrations/triton/host_interpreter.h"

#include <ATen/core/ivalue.h>
#include <multipy/runtime/interpreter_manager.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "integrations/triton/errors.h"
#include "integrations/triton/pool_metrics.h"
#include "integrations/triton/python_environment_at.h"
#include "integrations/triton/python_functions.h"
#include "tools/python_sources.h"

namespace multipy::triton {
namespace {

constexpr const char* kRunner = "_multipy_triton_model";
constexpr const char* kResidents = "_multipy_triton_residents";

// Before anything else of ours is imported there.
void connect(const runtime::InterpreterSession& session, TRITONSERVER_Server* server) {
  c10::Dict<std::string, std::int64_t> addresses;
  addresses.insert("server", static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(server)));
  for (const FunctionTable& table : {requestFunctions(), callFunctions(), serverFunctions()})
    for (const auto& [name, address] : table) addresses.insert(name, address);
  session.global("_multipy_triton_server", "connect")({addresses});
}

std::vector<HostInterpreter::Key> keysIn(const runtime::InterpreterSession& session) {
  std::vector<HostInterpreter::Key> keys;
  const at::IValue found =
      session.global(kResidents, "keys")(at::ArrayRef<at::IValue>()).toIValue();
  for (const at::IValue& key : found.toTupleRef().elements()) keys.push_back(key.toInt());
  return keys;
}

bool isThere(const runtime::InterpreterSession& session, HostInterpreter::Key key) {
  return session.global(kRunner, "is_started")({key}).toIValue().toBool();
}

void finalize(const runtime::InterpreterSession& session, HostInterpreter::Key key) noexcept {
  try {
    session.global(kRunner, "finalize")({key});
  } catch (...) {
    logIfError(currentError().release(), "finalize a model's instance");
  }
}

/// Of a model that runs here, or is about to.
struct Resident {
  std::mutex starting;  // held while it is started in an interpreter
  HostInterpreter::Start start;
  bool isStarted = false;  // for the first time

  /// Once more, in this interpreter; nothing of it is there where that fails.
  void startIn(const runtime::InterpreterSession& session, HostInterpreter::Key key) const {
    try {
      start(session);
    } catch (...) {
      finalize(session, key);
      throw;
    }
  }
};

}  // namespace

struct HostInterpreter::Python {
  explicit Python(const Options& of) : options(of), manager(1, environmentAt(of.prefix)) {
    for (std::size_t i = 0; i < pythonSourceCount; ++i)
      manager.registerModuleSource(pythonSources[i].name, pythonSources[i].text);
    manager.setWarmUp([this](const runtime::Interpreter& interpreter) { startAll(interpreter); });
    if (!options.name.empty())
      shown.emplace(PoolLabels{{}, {}, options.name}, [this] { return manager.stats(); });
  }

  runtime::InterpreterSession sessionOf(const runtime::Interpreter& interpreter) const {
    runtime::InterpreterSession session = interpreter.acquireSession();
    connect(session, options.server);
    return session;
  }

  std::shared_ptr<Resident> find(Key key) {
    const std::lock_guard lock(mutex);
    const auto found = residents.find(key);
    return found == residents.end() ? nullptr : found->second;
  }

  std::map<Key, std::shared_ptr<Resident>> all() {
    const std::lock_guard lock(mutex);
    return residents;
  }

  /// In an interpreter that is to take the place of another one.
  void startAll(const runtime::Interpreter& interpreter) {
    const runtime::InterpreterSession session = sessionOf(interpreter);
    for (const auto& [key, resident] : all()) {
      const std::unique_lock lock(resident->starting, std::try_to_lock);
      if (!lock || !resident->isStarted) continue;  // it sees to that itself
      try {
        resident->startIn(session, key);
      } catch (...) {
        if (options.name.empty()) throw;
        logIfError(currentError().release(), "start a model in another interpreter");
      }
    }
  }

  /// In the interpreter that there is.
  void finalizeRemoved(const runtime::Interpreter& interpreter) {
    const runtime::InterpreterSession session = sessionOf(interpreter);
    for (const Key key : keysIn(session))
      if (find(key) == nullptr) finalize(session, key);
  }

  const Options options;
  std::mutex mutex;
  std::map<Key, std::shared_ptr<Resident>> residents;
  runtime::InterpreterManager manager;
  std::optional<ShownPool> shown;  // the last member: it asks `manager`
};

HostInterpreter::HostInterpreter(Options options) : options_(std::move(options)) {}

HostInterpreter::~HostInterpreter() = default;

// Not by the constructor: it is made under the lock of all pools.
HostInterpreter::Python& HostInterpreter::python() {
  std::call_once(once_, [this] { python_ = std::make_unique<Python>(options_); });
  return *python_;
}

runtime::InterpreterManager& HostInterpreter::manager() { return python().manager; }

runtime::InterpreterSession HostInterpreter::session() {
  return python().sessionOf(manager().allInstances()[0]);
}

void HostInterpreter::admit(Key key) {
  Python& python = this->python();
  const std::lock_guard lock(python.mutex);
  python.residents.try_emplace(key, std::make_shared<Resident>());
}

void HostInterpreter::start(Key key, Start start) {
  const auto resident = python().find(key);
  const std::lock_guard lock(resident->starting);
  start(session());
  resident->start = std::move(start);
  resident->isStarted = true;
}

void HostInterpreter::startAgain(Key key) {
  const auto resident = python().find(key);
  const std::lock_guard lock(resident->starting);
  const runtime::InterpreterSession session = this->session();
  if (!isThere(session, key)) resident->startIn(session, key);
}

void HostInterpreter::remove(Key key) noexcept {
  try {
    Python& python = this->python();
    {
      const std::lock_guard lock(python.mutex);
      python.residents.erase(key);
    }
    // A warm-up function is called when no interpreter is being replaced: a replacement that had
    // begun to start this model before serves by now.
    const auto first = std::make_shared<std::atomic<bool>>(true);
    python.manager.setWarmUp([&python, first](const runtime::Interpreter& interpreter) {
      if (*first)
        python.finalizeRemoved(interpreter);
      else
        python.startAll(interpreter);
    });
    *first = false;
  } catch (...) {
    logIfError(currentError().release(), "end a model's instance");
  }
}

}  // namespace multipy::triton
