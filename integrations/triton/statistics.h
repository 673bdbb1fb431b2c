// What the server's metrics are made of: when each request was begun, computed and answered.
//
// Threads: plain values; report functions by the thread that executes.
#pragma once

#include <cstdint>

#include "integrations/triton/triton_api.h"

namespace multipy::triton {

/// Now, on the clock that Triton's own times are of.
std::uint64_t nanoseconds() noexcept;

struct ExecutionTimes {
  std::uint64_t executeStart = 0;  // the backend got the requests
  std::uint64_t computeStart = 0;  // Python gets them
  std::uint64_t computeEnd = 0;    // the model has returned, or has sent its first response
  std::uint64_t executeEnd = 0;    // all has been sent that was to be sent
};

/// One request's. While it is not released.
void reportRequest(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
                   bool success, const ExecutionTimes& times) noexcept;
/// Those of one execution: as many inferences as its requests have elements.
void reportBatch(TRITONBACKEND_ModelInstance* instance, std::uint64_t batchSize,
                 const ExecutionTimes& times) noexcept;

}  // namespace multipy::triton
