#include "runtime/interpreter/interruption.h"

#include <new>
#include <utility>

#include "process/interpreter_threads.h"
#include "runtime/interpreter/gil.h"

namespace multipy::runtime {
namespace {

void interruptNow(InterpreterCore& core, const CallToInterrupt& call) {
  if (!core.tryBeginOperation()) return;
  const Entered inside(core, Entered::GatePassed{}, Entered::Priority::High);
  const auto target = call.find();
  if (!target) return;
  // Once: code that ends (finally, __exit__) is left to itself.
  if (!target->again && inside.python().interrupt(target->threadState)) {
    call.interrupted();
    if (target->startedBy != 0) inside.python().interruptStartedBy(target->startedBy);
  }
  if (target->startedBy != 0) core.api().wakeStartedBy(target->startedBy);
  // Without a signal to be had it is raised at the next bytecode only.
  if (inside.python().interruptIsPending(target->threadState))
    static_cast<void>(target->thread->wake());
}

}  // namespace

void interruptSoon(const std::shared_ptr<InterpreterCore>& core,
                   std::shared_ptr<const CallToInterrupt> call) {
  process::postHousekeeping(core->slot(), [core, call = std::move(call)] {
    try {
      interruptNow(*core, *call);
    } catch (const std::bad_alloc&) {
      // The thread's first time inside, which takes memory. The interrupt is asked for again.
    }
  });
}

}  // namespace multipy::runtime
