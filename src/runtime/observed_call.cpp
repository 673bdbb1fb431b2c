#include "runtime/observed_call.h"

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {

void ObservedCall::tell(CallEnd end, std::string_view error) const noexcept {
  if (!observer_) return;
  const auto now = CallReport::Clock::now();
  CallReport report{.id = trace.id,
                    .model = *trace.model,
                    .tag = {},
                    .interpreter = trace.interpreter,
                    .asked = asked_,
                    .begun = trace.id != 0 ? trace.begun : now,
                    .ended = now,
                    .end = end,
                    .error = error};
  if (options_) {
    report.tag = options_->tag;
    report.priority = options_->priority;
  }
  observer_->callEnded(report);
}

void ObservedCall::threw(const std::exception_ptr& error) const noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const QueueFullError& full) {
    tell(CallEnd::QueueFull, full.what());
  } catch (const DeadlineExceededError& late) {
    tell(CallEnd::Deadline, late.what());
  } catch (const CancelledError& cancelled) {
    tell(CallEnd::Cancelled, cancelled.what());
  } catch (const std::exception& raised) {
    tell(CallEnd::Raised, raised.what());
  } catch (...) {
    tell(CallEnd::Raised, "what is no std::exception");
  }
}

}  // namespace multipy::runtime
