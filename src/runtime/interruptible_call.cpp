#include "runtime/interruptible_call.h"

#include <exception>

namespace multipy::runtime {

void InterruptibleCall::watch(const CallOptions& options) {
  if (const auto refused = CallQueue::refusalOf(&options); refused != CallQueue::Refusal::None)
    manager_.throwRefused({.refused = refused}, "call " + *name_);
  if (!options.interrupt) return;
  watched_ = options.deadline || options.stop.stop_possible();
  if (options.deadline) manager_.ending.endAt(*options.deadline, record_.id(), EndReason::Deadline);
  if (options.stop.stop_possible()) onStop_.emplace(options.stop, Stop{*this});
}

// By the thread that requests the stop.
void InterruptibleCall::stop() noexcept {
  try {
    manager_.ending.endAt(CallOptions::Clock::now(), record_.id(), EndReason::Stopped);
  } catch (const std::exception&) {
    // No thread, or no memory, to see to it that it ends: it is asked once.
    manager_.interrupt(record_.id(), EndReason::Stopped);
  }
}

void InterruptibleCall::end() noexcept {
  onStop_.reset();  // waits for stop()
  manager_.ending.over(record_.id());
  if (record_.interrupted() == EndReason::None) return;
  const bool wasRaised = !inside_.python().takeInterruptBack(inside_.threadState());
  if (wasRaised && manager_.options.pool.replacement.afterInterrupt)
    manager_.keeper.ask(CallRecords::placeOf(record_.id()), ReplacementReason::Interrupted);
}

}  // namespace multipy::runtime
