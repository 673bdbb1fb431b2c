// What ends a call of a model before its own end: its clients have gone, or have stopped waiting.
// Both only where the model's configuration asks for it, since a call that is interrupted costs an
// interpreter.
//
// Threads: as CancellationWatch.
#pragma once

#include <multipy/runtime/call_options.h>

#include <memory>
#include <optional>

#include "integrations/triton/cancellation.h"

namespace multipy::triton {

class RequestBatch;
struct ModelSettings;

class CallLimits {
 public:
  explicit CallLimits(const ModelSettings& settings);

  /// The options of a call with these requests. They are watched as long as this lives.
  class Limited {
   public:
    Limited(const CallLimits& limits, const RequestBatch& requests);
    const runtime::CallOptions& options() const noexcept { return options_; }

   private:
    std::optional<CancellationWatch::Watched> watched_;
    runtime::CallOptions options_;
  };

 private:
  const bool interruptTimedOut_;
  std::unique_ptr<CancellationWatch> cancellations_;  // null: they interrupt nothing
};

}  // namespace multipy::triton
