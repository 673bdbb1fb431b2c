// The requests of one execution: every one that is taken is answered and given back, whatever
// happens.
//
// Threads: isCancelled() by any while the execution is under way; the rest by the thread that
// executes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "integrations/triton/open_request.h"
#include "integrations/triton/responder.h"
#include "integrations/triton/statistics.h"

namespace multipy::triton {

class RequestBatch {
 public:
  struct Part {
    std::shared_ptr<OpenRequest> request;
    std::shared_ptr<Responder> responder;
    std::uint64_t size = 0;  // how many elements it has, for the statistics
  };

  /// The requests are still the server's: what this throws leaves them to it.
  RequestBatch(TRITONBACKEND_Request** requests, std::uint32_t count, bool decoupled);
  /// From now on they are ours.
  void adopt() noexcept;

  std::vector<Part>& parts() noexcept { return parts_; }
  const std::vector<Part>& parts() const noexcept { return parts_; }

  /// Whether all clients have gone, or have their answers.
  bool isCancelled() const;
  /// For how long the most patient of them waits; none where one waits for as long as it takes.
  /// TritonError where the server does not tell.
  std::optional<std::chrono::microseconds> longestTimeout() const;
  /// The execution has ended: tells the server how long it took (computeEnd is found here), and
  /// gives back the requests that have been answered.
  void finish(TRITONBACKEND_ModelInstance* instance, ExecutionTimes times) noexcept;

 private:
  std::vector<Part> parts_;
};

}  // namespace multipy::triton
