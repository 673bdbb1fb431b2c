#include "integrations/triton/model_interpreter.h"

#include <ATen/core/ivalue.h>
#include <multipy/runtime/interpreter_manager.h>

#include <optional>

#include "integrations/triton/errors.h"
#include "integrations/triton/pool_metrics.h"
#include "integrations/triton/python_environment_at.h"
#include "integrations/triton/python_functions.h"
#include "integrations/triton/shared_weights.h"
#include "tools/python_sources.h"

namespace multipy::triton {
namespace {

constexpr const char* kRunner = "_multipy_triton_model";

c10::Dict<std::string, std::string> dictOf(const std::map<std::string, std::string>& values) {
  c10::Dict<std::string, std::string> out;
  for (const auto& [key, value] : values) out.insert(key, value);
  return out;
}

// Before anything else of ours is imported there.
void connect(const runtime::InterpreterSession& session, const ModelPlace& place) {
  c10::Dict<std::string, std::int64_t> addresses;
  addresses.insert("server",
                   static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(place.server)));
  for (const FunctionTable& table : {requestFunctions(), callFunctions(), serverFunctions()})
    for (const auto& [name, address] : table) addresses.insert(name, address);
  session.global("_multipy_triton_server", "connect")({addresses});
}

}  // namespace

struct ModelInterpreter::Python {
  explicit Python(const ModelPlace& where) : place(where), manager(1, environmentAt(where.prefix)) {
    for (std::size_t i = 0; i < pythonSourceCount; ++i)
      manager.registerModuleSource(pythonSources[i].name, pythonSources[i].text);
  }

  runtime::InterpreterSession session() { return manager.allInstances()[0].acquireSession(); }

  const ModelPlace place;
  runtime::InterpreterManager manager;
  runtime::ReplicatedObj execute;
  runtime::ReplicatedObj isReady;
  std::optional<ShownPool> shown;  // once the model has started; the last member: it asks `manager`
};

ModelInterpreter::ModelInterpreter(const ModelPlace& place)
    : python_(std::make_unique<Python>(place)) {}

ModelInterpreter::~ModelInterpreter() = default;

std::string ModelInterpreter::autoComplete(const std::string& name, const std::string& config) {
  const runtime::InterpreterSession session = python_->session();
  const ModelPlace& place = python_->place;
  connect(session, place);
  return session.global(kRunner, "auto_complete")({place.repository, place.version, name, config})
      .toIValue()
      .toStringRef();
}

void ModelInterpreter::start(const std::string& name,
                             const std::map<std::string, std::string>& args, bool decoupled,
                             const std::shared_ptr<SharedWeights>& weights) {
  const ModelPlace place = python_->place;
  python_->manager.setWarmUp(
      [place, name, args, decoupled, weights](const runtime::Interpreter& interpreter) {
        const runtime::InterpreterSession session = interpreter.acquireSession();
        connect(session, place);
        session.global(kRunner,
                       "start")({place.repository, place.version, name, dictOf(args), decoupled});
        if (weights != nullptr) weights->share(session);
      });
  runtime::InterpreterSession session = python_->session();
  python_->execute = session.createMovable(session.global(kRunner, "execute"));
  python_->isReady = session.createMovable(session.global(kRunner, "is_ready"));
  python_->shown.emplace(PoolLabels{name, place.version, args.at("model_instance_name")},
                         [this] { return python_->manager.stats(); });
}

void ModelInterpreter::execute(RequestValues requests, const runtime::CallOptions& options) {
  static_cast<void>(python_->execute.call({requests.take()}, options));
}

bool ModelInterpreter::isReady(const runtime::CallOptions& options) {
  return python_->isReady.call({}, options).toBool();
}

void ModelInterpreter::finalize() noexcept {
  try {
    const runtime::InterpreterSession session = python_->session();
    session.global(kRunner, "finalize")(at::ArrayRef<at::IValue>());
  } catch (...) {
    logIfError(currentError().release(), "finalize a model's instance");
  }
}

}  // namespace multipy::triton
