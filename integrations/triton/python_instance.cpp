#include "integrations/triton/python_instance.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "integrations/triton/errors.h"
#include "integrations/triton/execution.h"
#include "integrations/triton/log.h"
#include "integrations/triton/request_table.h"

namespace multipy::triton {
namespace {

std::string nameOf(TRITONBACKEND_ModelInstance* instance) {
  const char* name = nullptr;
  check(TRITONBACKEND_ModelInstanceName(instance, &name), "get an instance's name");
  return name;
}

// What initialize() gets.
std::map<std::string, std::string> argumentsOf(TRITONBACKEND_ModelInstance* instance,
                                               const Model& model, const std::string& config) {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_AUTO;
  check(TRITONBACKEND_ModelInstanceKind(instance, &kind), "get an instance's kind");
  std::int32_t device = 0;
  check(TRITONBACKEND_ModelInstanceDeviceId(instance, &device), "get an instance's device");
  return {{"model_config", config},
          {"model_instance_kind", TRITONSERVER_InstanceGroupKindString(kind)},
          {"model_instance_name", nameOf(instance)},
          {"model_instance_device_id", std::to_string(device)},
          {"model_repository", model.place().repository},
          {"model_version", model.place().version},
          {"model_name", model.name()}};
}

}  // namespace

PythonInstance::PythonInstance(TRITONBACKEND_ModelInstance* instance, Model& model)
    : instance_(instance),
      name_(nameOf(instance)),
      settings_(model.settings()),
      limits_(settings_),
      copyInputs_(settings_.copyInputs) {
  interpreter_ = model.interpreter();
  interpreter_->start(argumentsOf(instance, model, settings_.json), settings_.decoupled,
                      model.weights());
}

void PythonInstance::execute(TRITONBACKEND_Request** requests, std::uint32_t count) {
  lookForKeptInputs();
  Execution execution(requests, count,
                      {settings_.decoupled, settings_.maxBatchSize > 0, copyInputs_, name_});
  {
    const CallLimits::Limited limited(limits_, execution.batch());
    execution.run(*interpreter_, limited.options());
  }
  execution.finish(instance_);
  kept_ = execution.keptRequests();
}

// Not right after an execution: what a coroutine or a garbage cycle refers to may go in a moment.
void PythonInstance::lookForKeptInputs() {
  if (copyInputs_ || std::none_of(kept_.begin(), kept_.end(), [](std::uint64_t number) {
        return RequestTable::instance().findRequest(number) != nullptr;
      }))
    return;
  copyInputs_ = true;
  log(TRITONSERVER_LOG_WARN,
      "model instance '" + name_ +
          "' keeps an input, or a request, beyond execute(). What it has kept now is memory of "
          "Triton's that is used again; from now on its inputs are copied. Keep a copy instead, or "
          "set the parameter COPY_INPUTS to \"true\"");
}

void PythonInstance::requireReady() {
  using namespace std::chrono_literals;
  runtime::CallOptions options;
  options.deadline = runtime::CallOptions::in(4s);  // Triton waits for five
  options.interrupt = false;                        // it would replace the interpreter
  if (!interpreter_->isReady(options))
    throw TritonError(TRITONSERVER_ERROR_UNAVAILABLE,
                      "is_ready() of model instance '" + name_ + "' says that it is not");
}

}  // namespace multipy::triton
