#include "integrations/triton/request_batch.h"

#include <algorithm>

#include "integrations/triton/errors.h"

namespace multipy::triton {

RequestBatch::RequestBatch(TRITONBACKEND_Request** requests, std::uint32_t count, bool decoupled) {
  parts_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i)
    parts_.push_back({std::make_shared<OpenRequest>(requests[i]),
                      std::make_shared<Responder>(requests[i], decoupled)});
}

void RequestBatch::adopt() noexcept {
  for (const Part& part : parts_) part.request->adopt();
}

bool RequestBatch::isCancelled() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return part.responder->isClosed() || part.responder->isCancelled();
  });
}

std::optional<std::chrono::microseconds> RequestBatch::longestTimeout() const {
  std::uint64_t longest = 0;
  for (const Part& part : parts_) {
    std::uint64_t timeout = 0;
    check(TRITONBACKEND_InferenceRequestTimeoutMicroseconds(part.request->get(), &timeout),
          "get a request's timeout");
    if (timeout == 0) return std::nullopt;
    longest = std::max(longest, timeout);
  }
  constexpr auto kMost = std::chrono::microseconds::max().count();
  return std::chrono::microseconds(std::min<std::uint64_t>(longest, kMost));
}

void RequestBatch::finish(TRITONBACKEND_ModelInstance* instance, ExecutionTimes times) noexcept {
  times.computeEnd = times.executeEnd;
  std::uint64_t inferences = 0;
  for (const Part& part : parts_) {
    const std::uint64_t sent = part.responder->firstSent();
    if (sent >= times.computeStart) times.computeEnd = std::min(times.computeEnd, sent);
    inferences += part.size;
  }
  for (const Part& part : parts_)
    reportRequest(instance, part.request->get(), !part.responder->hasFailed(), times);
  reportBatch(instance, inferences, times);
  for (const Part& part : parts_) {
    if (part.responder->isClosed()) part.request->answered();
    part.request->endExecution();
  }
}

}  // namespace multipy::triton
