#include "integrations/triton/model.h"

#include <filesystem>

#include "integrations/triton/errors.h"
#include "integrations/triton/json.h"

namespace multipy::triton {
namespace {

struct DeleteMessage {
  void operator()(TRITONSERVER_Message* message) const noexcept {
    logIfError(TRITONSERVER_MessageDelete(message), "delete a message");
  }
};
using OwnedMessage = std::unique_ptr<TRITONSERVER_Message, DeleteMessage>;

constexpr std::uint32_t kConfigVersion = 1;

std::string configOf(TRITONBACKEND_Model* model) {
  TRITONSERVER_Message* message = nullptr;
  check(TRITONBACKEND_ModelConfig(model, kConfigVersion, &message), "get a model's configuration");
  const OwnedMessage owned(message);
  const char* base = nullptr;
  size_t size = 0;
  check(TRITONSERVER_MessageSerializeToJson(message, &base, &size), "read a model's configuration");
  return {base, size};
}

/// config.pbtxt: parameters { key: "..." value: { string_value: "..." } }; empty if it is not
/// there.
std::string parameter(const Json& config, const std::string& key) {
  const Json* at = config.find("parameters");
  if (at != nullptr) at = at->find(key);
  if (at != nullptr) at = at->find("string_value");
  return at == nullptr ? std::string() : at->stringOr({});
}

bool truth(const Json& config, const std::string& key) {
  const std::string text = parameter(config, key);
  if (text.empty() || text == "false") return false;
  if (text == "true") return true;
  throw TritonError(TRITONSERVER_ERROR_INVALID_ARG,
                    "parameter " + key + " is '" + text + "', expected 'true' or 'false'");
}

// The folder of a virtual or conda environment. Triton's Python backend unpacks archives itself.
std::string environmentFolder(std::string path, const std::string& repository) {
  if (path.empty()) return path;
  const std::string variable = "$$TRITON_MODEL_DIRECTORY";
  if (const auto at = path.find(variable); at != path.npos)
    path.replace(at, variable.size(), repository);
  if (!std::filesystem::is_directory(path))
    throw TritonError(TRITONSERVER_ERROR_INVALID_ARG,
                      "parameter EXECUTION_ENV_PATH is '" + path +
                          "', expected the folder of a Python environment (an archive has to be "
                          "unpacked before)");
  return path;
}

}  // namespace

Model::Model(TRITONBACKEND_Model* model) : model_(model) {
  const char* text = nullptr;
  check(TRITONBACKEND_ModelName(model, &text), "get a model's name");
  name_ = text;
  std::uint64_t version = 0;
  check(TRITONBACKEND_ModelVersion(model, &version), "get a model's version");
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  check(TRITONBACKEND_ModelRepository(model, &type, &text), "get a model's folder");
  if (type != TRITONBACKEND_ARTIFACT_FILESYSTEM)
    throw TritonError(TRITONSERVER_ERROR_UNSUPPORTED,
                      "model '" + name_ + "' does not lie in a file system");
  place_ = {text, std::to_string(version), {}};
  place_.prefix = environmentFolder(settings().environment, place_.repository);

  bool wanted = false;
  check(TRITONBACKEND_ModelAutoCompleteConfig(model, &wanted),
        "ask whether a model's configuration is to be completed");
  if (wanted) complete();
}

void Model::complete() {
  auto interpreter = std::make_unique<ModelInterpreter>(place_);
  const std::string completed = interpreter->autoComplete(name_, configOf(model_));
  TRITONSERVER_Message* message = nullptr;
  check(TRITONSERVER_MessageNewFromSerializedJson(&message, completed.data(), completed.size()),
        "write a model's configuration");
  const OwnedMessage owned(message);
  check(TRITONBACKEND_ModelSetConfig(model_, kConfigVersion, message),
        "set a model's completed configuration");
  started_ = std::move(interpreter);
}

ModelSettings Model::settings() const {
  ModelSettings out;
  out.json = configOf(model_);
  const Json config = Json::parse(out.json);
  if (const Json* const size = config.find("max_batch_size"))
    out.maxBatchSize = static_cast<std::uint64_t>(size->numberOr(0));
  if (const Json* const policy = config.find("model_transaction_policy"))
    if (const Json* const decoupled = policy->find("decoupled"))
      out.decoupled = decoupled->boolOr(false);
  out.environment = parameter(config, "EXECUTION_ENV_PATH");
  out.interruptCancelled = truth(config, "INTERRUPT_CANCELLED");
  out.copyInputs = truth(config, "COPY_INPUTS");
  return out;
}

std::unique_ptr<ModelInterpreter> Model::interpreter() {
  {
    const std::lock_guard lock(mutex_);
    if (started_ != nullptr) return std::move(started_);
  }
  return std::make_unique<ModelInterpreter>(place_);
}

}  // namespace multipy::triton
