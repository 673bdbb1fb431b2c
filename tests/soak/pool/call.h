// One call: what Python shall do in it, within which limits, and whether what it came to is right.
//
// Threads: a call is planned by one thread, and judged by the one that has its outcome.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <optional>
#include <stop_token>
#include <vector>

#include "../random.h"
#include "ledger.h"
#include "multipy/runtime/call_options.h"
#include "multipy/runtime/call_outcome.h"
#include "versions.h"

namespace multipy::soak::pool {

class Pool;

/// What Python does; methods of soak_pool_model.PoolModel.
struct Kind {
  const char* name = "";
  int weight = 1;          // how often it is chosen, beside the others
  bool ends = true;        // or it has to be interrupted
  bool hasAnswer = true;   // where it is not ended early
  double mostSeconds = 0;  // that it is told to take
  int atOnce = 0;          // how many may be under way; 0: any number
};

/// A kind for as long as the call is under way.
class KindInUse {
 public:
  explicit KindInUse(std::size_t kind);
  KindInUse(KindInUse&& other) noexcept : kind_(std::exchange(other.kind_, kNone)) {}
  KindInUse& operator=(KindInUse&&) = delete;
  ~KindInUse();

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  std::size_t kind_;
};

struct Call {
  CallId id = 0;
  const Kind* kind = nullptr;
  std::optional<KindInUse> inUse;
  at::Tensor x;
  double seconds = 0;
  Versions::Moment made = 0;
  std::optional<runtime::CallOptions> options;  // none: a plain call
  std::optional<std::stop_source> stop;

  std::vector<at::IValue> arguments() const;
  runtime::CallOptions optionsOrNone() const { return options.value_or(runtime::CallOptions()); }
};

enum class Ending { Any, ByItself, ByStopOnly };

/// A call as the choices are; its stop, if it has one, is requested in a while. ByItself: of a kind
/// that ends, and without limits. ByStopOnly: of one that does not, and without limits either.
Call plan(Pool& pool, Random& random, Maker maker, Ending ending = Ending::Any);

/// Limits as plan() makes them.
runtime::CallOptions limits(Pool& pool, Random& random, std::optional<std::stop_source>& stop,
                            bool mustEnd);

/// Compares what a call has come to and closes it in the ledger. Each call once.
void judge(Pool& pool, const Call& call, const runtime::CallOutcome& outcome);

/// What an error of a call or of a session stands for, if it may be what these limits lead to.
std::optional<End> endOf(const std::exception& error,
                         const std::optional<runtime::CallOptions>& options,
                         const std::optional<std::stop_source>& stop);

/// What `work` returns or throws.
template <class Work>
runtime::CallOutcome outcomeOf(const Work& work) noexcept {
  try {
    return runtime::CallOutcome(work());
  } catch (...) {
    return runtime::CallOutcome(std::current_exception());
  }
}

}  // namespace multipy::soak::pool
