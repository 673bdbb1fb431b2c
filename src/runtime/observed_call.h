// A call that its manager's observer is told of when it has ended.
//
// Threads: by the call's own.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "multipy/runtime/pool_observer.h"
#include "runtime/pool/call_records.h"
#include "runtime/pool/observer_slot.h"

namespace multipy::runtime {

/// What a call notes down of itself once it has an interpreter's GIL.
struct CallTrace {
  const std::string* model = nullptr;  // never freed
  CallId id = 0;
  int interpreter = -1;
  CallReport::Clock::time_point begun{};
};

class ObservedCall {
 public:
  /// `options`: null, or it outlives this.
  ObservedCall(const ObserverSlot& slot, const std::string* name, const CallOptions* options,
               CallReport::Clock::time_point asked) noexcept
      : trace{.model = name}, observer_(slot.get()), options_(options), asked_(asked) {}

  /// One of the two, once.
  void returned() const noexcept { tell(CallEnd::Returned, {}); }
  void threw(const std::exception_ptr& error) const noexcept;

  CallTrace trace;

 private:
  void tell(CallEnd end, std::string_view error) const noexcept;

  const std::shared_ptr<PoolObserver> observer_;  // or null
  const CallOptions* const options_;
  const CallReport::Clock::time_point asked_;
};

}  // namespace multipy::runtime
