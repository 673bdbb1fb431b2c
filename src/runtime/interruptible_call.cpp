#include "runtime/interruptible_call.h"

#include <chrono>
#include <exception>

#include "runtime/interpreter/visit.h"

namespace multipy::runtime {

using namespace std::chrono_literals;

void InterruptibleCall::watch(const CallOptions& options) {
  if (const auto refused = CallQueue::refusalOf(&options); refused != CallQueue::Refusal::None)
    manager_.throwRefused({.refused = refused}, "call " + *name_, record_.id());
  if (!options.interrupt) return;
  watched_ = options.interruptThreads || options.deadline || options.stop.stop_possible();
  if (options.deadline) manager_.ending.endAt(*options.deadline, record_.id(), EndReason::Deadline);
  if (options.interruptThreads) {
    record_.markWithThreads();
    outer_ = inside_.core().api().setCall(record_.id());
    withThreads_ = true;
  }
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

/// A thread that was about to block as it was woken would stay there: it is woken again after the
/// call's end, at which nothing asks for that any more.
void InterruptibleCall::wakeThreadsLater() const noexcept {
  const auto core = manager_.places.coreAt(CallRecords::placeOf(record_.id()));
  const auto wake = [core, id = record_.id()] {
    if (const Visit visit(*core); visit) core->api().wakeStartedBy(id);
  };
  try {
    const auto now = Timer::Time::clock::now();
    for (const auto later : {0ms, 2ms, 20ms, 200ms}) manager_.timer.at(now + later, wake);
  } catch (const std::exception&) {
    // No thread, or no memory, for it: they have been woken before.
  }
}

void InterruptibleCall::end() noexcept {
  onStop_.reset();  // waits for stop()
  manager_.ending.over(record_.id());
  if (withThreads_) inside_.core().api().setCall(outer_);
  if (record_.interrupted() == EndReason::None) return;
  manager_.tallies.interrupted(CallRecords::placeOf(record_.id()));
  if (withThreads_) wakeThreadsLater();
  const bool wasRaised = !inside_.python().takeInterruptBack(inside_.threadState());
  if (wasRaised && manager_.options.pool.replacement.afterInterrupt)
    manager_.keeper.ask(CallRecords::placeOf(record_.id()), ReplacementReason::Interrupted);
}

}  // namespace multipy::runtime
