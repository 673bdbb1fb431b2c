// An instance of a model, as the server sees it.
//
// Threads: made and ended by any thread of the server's; execute() by one at a time, requireReady()
// by any.
#pragma once

#include <cstdint>
#include <memory>

#include "integrations/triton/model.h"
#include "integrations/triton/triton_api.h"

namespace multipy::triton {

class Instance {
 public:
  Instance() = default;
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  virtual ~Instance() = default;

  /// The requests of a batch. Thrown, they are still the server's; else they are answered.
  virtual void execute(TRITONBACKEND_Request** requests, std::uint32_t count) = 0;
  /// TritonError (UNAVAILABLE) if the model says that it is not.
  virtual void requireReady() = 0;
};

/// Of the kind that the model is. What its own code raises is thrown, so that the server says of
/// the model that it is not ready, and why.
std::unique_ptr<Instance> newInstance(TRITONBACKEND_ModelInstance* instance, Model& model);

}  // namespace multipy::triton
