#include "integrations/triton/model_interpreter.h"

#include <ATen/core/ivalue.h>
#include <multipy/runtime/interpreter_manager.h>

#include <optional>
#include <vector>

#include "integrations/triton/errors.h"
#include "integrations/triton/pool_metrics.h"
#include "integrations/triton/shared_weights.h"

namespace multipy::triton {
namespace {

constexpr const char* kRunner = "_multipy_triton_model";

c10::Dict<std::string, std::string> dictOf(const std::map<std::string, std::string>& values) {
  c10::Dict<std::string, std::string> out;
  for (const auto& [key, value] : values) out.insert(key, value);
  return out;
}

void admit(const runtime::InterpreterSession& session, const std::string& model,
           const ModelPlace& place, const Placement& at) {
  session.global(kRunner, "admit")(
      {at.key(), place.repository, place.version, model, at.host().isOneModels()});
}

}  // namespace

struct ModelInterpreter::Functions {
  static at::IValue call(runtime::ReplicatedObj& function, const Placement& at,
                         const std::vector<at::IValue>& arguments,
                         const runtime::CallOptions& options);

  runtime::ReplicatedObj execute;
  runtime::ReplicatedObj isReady;
  std::optional<ShownPool> shown;  // of an interpreter of its own
};

ModelInterpreter::ModelInterpreter(const std::string& model, const ModelPlace& place)
    : model_(model), place_(place), placement_(placeOf(model, place)) {
  placement_->host().admit(placement_->key());
}

ModelInterpreter::~ModelInterpreter() {
  functions_.reset();
  placement_->host().remove(placement_->key());
}

std::string ModelInterpreter::autoComplete(const std::string& config) {
  const runtime::InterpreterSession session = placement_->host().session();
  admit(session, model_, place_, *placement_);
  return session.global(kRunner, "auto_complete")({placement_->key(), model_, config})
      .toIValue()
      .toStringRef();
}

void ModelInterpreter::start(const std::map<std::string, std::string>& args, bool decoupled,
                             const std::shared_ptr<SharedWeights>& weights) {
  HostInterpreter& host = placement_->host();
  host.start(placement_->key(),
             [this, args, decoupled, weights](const runtime::InterpreterSession& session) {
               admit(session, model_, place_, *placement_);
               session.global(kRunner, "start")({placement_->key(), dictOf(args), decoupled});
               if (weights != nullptr) weights->share(session, placement_->key());
             });
  auto functions = std::make_unique<Functions>();
  runtime::InterpreterSession session = host.session();
  functions->execute = session.createMovable(session.global(kRunner, "execute"));
  functions->isReady = session.createMovable(session.global(kRunner, "is_ready"));
  if (host.isOneModels())
    functions->shown.emplace(PoolLabels{model_, place_.version, args.at("model_instance_name")},
                             [&host] { return host.manager().stats(); });
  functions_ = std::move(functions);
}

// None is what these functions return where the model is not there.
at::IValue ModelInterpreter::Functions::call(runtime::ReplicatedObj& function, const Placement& at,
                                             const std::vector<at::IValue>& arguments,
                                             const runtime::CallOptions& options) {
  constexpr int kMostStarts = 10;  // of interpreters that are replaced again and again
  for (int i = 0; i < kMostStarts; ++i) {
    const at::IValue answer = function.call(arguments, options);
    if (!answer.isNone()) return answer;
    at.host().startAgain(at.key());
  }
  throw TritonError(TRITONSERVER_ERROR_UNAVAILABLE,
                    "the model's interpreter is replaced again and again; ask later");
}

void ModelInterpreter::execute(RequestValues requests, const runtime::CallOptions& options) {
  static_cast<void>(functions_->call(functions_->execute, *placement_,
                                     {placement_->key(), requests.take()}, options));
}

bool ModelInterpreter::isReady(const runtime::CallOptions& options) {
  return functions_->call(functions_->isReady, *placement_, {placement_->key()}, options).toBool();
}

}  // namespace multipy::triton
