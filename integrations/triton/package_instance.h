// An instance of a torch.package file: the thread of the server's that calls it, and an interpreter
// more in the model's pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "integrations/triton/call_limits.h"
#include "integrations/triton/instance.h"
#include "integrations/triton/package_model.h"
#include "integrations/triton/request_batch.h"

namespace multipy::triton {

class PackageInstance final : public Instance {
 public:
  PackageInstance(TRITONBACKEND_ModelInstance* instance, Model& model,
                  std::shared_ptr<PackageModel> package);

  void execute(TRITONBACKEND_Request** requests, std::uint32_t count) override;
  void requireReady() override {}

 private:
  struct Read {
    RequestBatch::Part* part;
    std::vector<TensorRow> inputs;     // in the configuration's order
    std::vector<std::string> outputs;  // requested; empty: all
  };
  using Group = std::vector<Read>;

  Read read(RequestBatch::Part& part) const;
  std::vector<Group> grouped(RequestBatch& batch) const noexcept;
  void answer(const Group& group, const runtime::CallOptions& options) noexcept;
  static void send(const Read& to, const std::vector<TensorRow>& outputs) noexcept;

  TRITONBACKEND_ModelInstance* const instance_;  // the server's, for as long as this lives
  const ModelSettings settings_;
  const std::shared_ptr<PackageModel> package_;
  const PackageModel::Share share_;
  const CallLimits limits_;
};

}  // namespace multipy::triton
