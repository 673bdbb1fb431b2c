#include "integrations/triton/call_limits.h"

#include "integrations/triton/model.h"
#include "integrations/triton/request_batch.h"

namespace multipy::triton {

CallLimits::CallLimits(const ModelSettings& settings)
    : interruptTimedOut_(settings.interruptTimedOut),
      cancellations_(settings.interruptCancelled ? std::make_unique<CancellationWatch>()
                                                 : nullptr) {}

CallLimits::Limited::Limited(const CallLimits& limits, const RequestBatch& requests) {
  if (limits.cancellations_ != nullptr) {
    watched_.emplace(*limits.cancellations_, requests);
    options_.stop = watched_->token();
  }
  if (const auto timeout = requests.longestTimeout(); limits.interruptTimedOut_ && timeout)
    options_.deadline = runtime::CallOptions::in(*timeout);
}

}  // namespace multipy::triton
