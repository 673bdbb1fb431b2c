#include "integrations/triton/model.h"

#include <filesystem>
#include <map>

#include "integrations/triton/errors.h"
#include "integrations/triton/json.h"
#include "integrations/triton/shared_weights.h"

namespace multipy::triton {
namespace {

struct DeleteMessage {
  void operator()(TRITONSERVER_Message* message) const noexcept {
    logIfError(TRITONSERVER_MessageDelete(message), "delete a message");
  }
};
using OwnedMessage = std::unique_ptr<TRITONSERVER_Message, DeleteMessage>;

constexpr std::uint32_t kConfigVersion = 1;

std::string textOf(TRITONSERVER_Message* message) {
  const char* base = nullptr;
  size_t size = 0;
  check(TRITONSERVER_MessageSerializeToJson(message, &base, &size), "read a configuration");
  return {base, size};
}

std::string configOf(TRITONBACKEND_Model* model) {
  TRITONSERVER_Message* message = nullptr;
  check(TRITONBACKEND_ModelConfig(model, kConfigVersion, &message), "get a model's configuration");
  const OwnedMessage owned(message);
  return textOf(message);
}

/// What the server was started with: --backend-config=multipy,interpreter-pool=...; empty unless
/// it was.
std::string poolOfServer(TRITONBACKEND_Model* model) {
  TRITONBACKEND_Backend* backend = nullptr;
  check(TRITONBACKEND_ModelBackend(model, &backend), "get a model's backend");
  TRITONSERVER_Message* message = nullptr;  // the server's
  check(TRITONBACKEND_BackendConfig(backend, &message), "get the backend's configuration");
  const Json config = Json::parse(textOf(message));
  const Json* at = config.find("cmdline");
  if (at != nullptr) at = at->find("interpreter-pool");
  return at == nullptr ? std::string() : at->stringOr({});
}

/// config.pbtxt: parameters { key: "..." value: { string_value: "..." } }; none if it is not there.
std::optional<std::string> parameterIfAny(const Json& config, const std::string& key) {
  const Json* at = config.find("parameters");
  if (at != nullptr) at = at->find(key);
  if (at != nullptr) at = at->find("string_value");
  if (at == nullptr) return std::nullopt;
  return at->stringOr({});
}

std::string parameter(const Json& config, const std::string& key) {
  return parameterIfAny(config, key).value_or(std::string());
}

bool truth(const Json& config, const std::string& key) {
  const std::string text = parameter(config, key);
  if (text.empty() || text == "false") return false;
  if (text == "true") return true;
  throw TritonError(TRITONSERVER_ERROR_INVALID_ARG,
                    "parameter " + key + " is '" + text + "', expected 'true' or 'false'");
}

TRITONSERVER_DataType typeOf(const std::string& name) {
  static const std::map<std::string, TRITONSERVER_DataType> kTypes{
      {"TYPE_BOOL", TRITONSERVER_TYPE_BOOL},     {"TYPE_UINT8", TRITONSERVER_TYPE_UINT8},
      {"TYPE_UINT16", TRITONSERVER_TYPE_UINT16}, {"TYPE_UINT32", TRITONSERVER_TYPE_UINT32},
      {"TYPE_UINT64", TRITONSERVER_TYPE_UINT64}, {"TYPE_INT8", TRITONSERVER_TYPE_INT8},
      {"TYPE_INT16", TRITONSERVER_TYPE_INT16},   {"TYPE_INT32", TRITONSERVER_TYPE_INT32},
      {"TYPE_INT64", TRITONSERVER_TYPE_INT64},   {"TYPE_FP16", TRITONSERVER_TYPE_FP16},
      {"TYPE_FP32", TRITONSERVER_TYPE_FP32},     {"TYPE_FP64", TRITONSERVER_TYPE_FP64},
      {"TYPE_BF16", TRITONSERVER_TYPE_BF16},     {"TYPE_STRING", TRITONSERVER_TYPE_BYTES}};
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? TRITONSERVER_TYPE_INVALID : found->second;
}

std::vector<Port> ports(const Json& config, const std::string& kind) {
  std::vector<Port> out;
  const Json* const all = config.find(kind);
  if (all == nullptr) return out;
  for (const Json& each : all->elements()) {
    const Json* const name = each.find("name");
    const Json* const type = each.find("data_type");
    if (name == nullptr || type == nullptr) continue;
    out.push_back({name->stringOr({}), typeOf(type->stringOr({}))});
  }
  return out;
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
  TRITONSERVER_Server* server = nullptr;
  check(TRITONBACKEND_ModelServer(model, &server), "get a model's server");
  const ModelSettings settings = this->settings();
  place_ = {text, std::to_string(version), environmentFolder(settings.environment, text), server,
            settings.pool ? *settings.pool : poolOfServer(model)};

  package_ = loadPackage();
  if (settings.shareWeights) weights_ = std::make_shared<SharedWeights>();
  bool wanted = false;
  check(TRITONBACKEND_ModelAutoCompleteConfig(model, &wanted),
        "ask whether a model's configuration is to be completed");
  // (A package tells nothing of its inputs and outputs.)
  if (wanted && package_ == nullptr) complete();
}

std::shared_ptr<PackageModel> Model::loadPackage() const {
  const auto folder = std::filesystem::path(place_.repository) / place_.version;
  ModelSettings settings = this->settings();
  const auto file = folder / (settings.file.empty() ? "model.pt" : settings.file);
  const bool isPackage = settings.file.empty() ? std::filesystem::exists(file) &&
                                                     !std::filesystem::exists(folder / "model.py")
                                               : file.extension() == ".pt";
  if (!isPackage) return nullptr;
  if (settings.pool && !settings.pool->empty())
    throw TritonError(TRITONSERVER_ERROR_INVALID_ARG,
                      "the configuration of model '" + name_ +
                          "' has the parameter INTERPRETER_POOL; a torch.package has interpreters "
                          "of its own, which all of its instances share: leave it out");
  if (settings.outputs.empty())
    throw TritonError(TRITONSERVER_ERROR_INVALID_ARG,
                      "the configuration of model '" + name_ +
                          "' has no outputs; a torch.package needs its inputs and outputs said");
  if (settings.decoupled)
    throw TritonError(TRITONSERVER_ERROR_INVALID_ARG,
                      "model '" + name_ + "' is decoupled; a torch.package sends one response");
  return std::make_shared<PackageModel>(PackagePlace{
      name_, place_.version, file, settings.package.empty() ? "model" : settings.package,
      settings.resource.empty() ? "model.pkl" : settings.resource, place_.prefix,
      std::move(settings.inputs), std::move(settings.outputs)});
}

void Model::complete() {
  auto interpreter = std::make_unique<ModelInterpreter>(name_, place_);
  const std::string completed = interpreter->autoComplete(configOf(model_));
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
  if (const Json* const file = config.find("default_model_filename")) out.file = file->stringOr({});
  out.environment = parameter(config, "EXECUTION_ENV_PATH");
  out.interruptCancelled = truth(config, "INTERRUPT_CANCELLED");
  out.interruptTimedOut = truth(config, "INTERRUPT_TIMED_OUT");
  out.shareWeights = truth(config, "SHARE_WEIGHTS");
  out.pool = parameterIfAny(config, "INTERPRETER_POOL");
  out.copyInputs = truth(config, "COPY_INPUTS");
  out.inputs = ports(config, "input");
  out.outputs = ports(config, "output");
  out.package = parameter(config, "PACKAGE");
  out.resource = parameter(config, "RESOURCE");
  return out;
}

std::unique_ptr<ModelInterpreter> Model::interpreter() {
  {
    const std::lock_guard lock(mutex_);
    if (started_ != nullptr) return std::move(started_);
  }
  return std::make_unique<ModelInterpreter>(name_, place_);
}

}  // namespace multipy::triton
