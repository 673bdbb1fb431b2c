#include "integrations/triton/model_control.h"

#include "integrations/triton/errors.h"
#include "integrations/triton/owned_parameter.h"

namespace multipy::triton {
void loadModel(TRITONSERVER_Server* server, const std::string& name, const std::string& config,
               const ModelFiles& files) {
  std::vector<OwnedParameter> owned;
  if (!config.empty())
    owned.emplace_back(
        TRITONSERVER_ParameterNew("config", TRITONSERVER_PARAMETER_STRING, config.c_str()));
  for (const auto& [path, bytes] : files)
    owned.emplace_back(TRITONSERVER_ParameterBytesNew(path.c_str(), bytes.data(), bytes.size()));
  std::vector<const TRITONSERVER_Parameter*> given;
  for (const OwnedParameter& each : owned) given.push_back(each.get());
  check(
      TRITONSERVER_ServerLoadModelWithParameters(server, name.c_str(), given.data(), given.size()),
      "load a model");
}

void unloadModel(TRITONSERVER_Server* server, const std::string& name, bool withDependents) {
  check(withDependents ? TRITONSERVER_ServerUnloadModelAndDependents(server, name.c_str())
                       : TRITONSERVER_ServerUnloadModel(server, name.c_str()),
        "unload a model");
}

bool isModelReady(TRITONSERVER_Server* server, const std::string& name, std::int64_t version) {
  bool ready = false;
  check(TRITONSERVER_ServerModelIsReady(server, name.c_str(), version, &ready),
        "check a model's readiness");
  return ready;
}

}  // namespace multipy::triton
