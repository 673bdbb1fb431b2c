// What a model can have the server do with models (load_model() and its like in Python).
//
// Threads: any; each waits until the server has done it. Errors: TritonError.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "integrations/triton/triton_api.h"

namespace multipy::triton {

/// A file that takes the place of one in the repository: "file:1/model.py", and its bytes.
using ModelFiles = std::vector<std::pair<std::string, std::string>>;

/// `config`: JSON in place of the repository's config.pbtxt; empty: that.
void loadModel(TRITONSERVER_Server* server, const std::string& name, const std::string& config,
               const ModelFiles& files);
void unloadModel(TRITONSERVER_Server* server, const std::string& name, bool withDependents);
/// `version` -1: the one that the server would choose.
bool isModelReady(TRITONSERVER_Server* server, const std::string& name, std::int64_t version);

}  // namespace multipy::triton
