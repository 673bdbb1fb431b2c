#include "integrations/triton/statistics.h"

#include <chrono>

#include "integrations/triton/errors.h"

namespace multipy::triton {

std::uint64_t nanoseconds() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

void reportRequest(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
                   bool success, const ExecutionTimes& times) noexcept {
  logIfError(TRITONBACKEND_ModelInstanceReportStatistics(instance, request, success,
                                                         times.executeStart, times.computeStart,
                                                         times.computeEnd, times.executeEnd),
             "report a request's statistics");
}

void reportBatch(TRITONBACKEND_ModelInstance* instance, std::uint64_t batchSize,
                 const ExecutionTimes& times) noexcept {
  if (batchSize == 0) return;
  logIfError(TRITONBACKEND_ModelInstanceReportBatchStatistics(
                 instance, batchSize, times.executeStart, times.computeStart, times.computeEnd,
                 times.executeEnd),
             "report a batch's statistics");
}

}  // namespace multipy::triton
