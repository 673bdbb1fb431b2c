#include "process/fork_handlers.h"

#include <pthread.h>

#include "base/per_interpreter.h"
#include "process/ownership.h"

namespace multipy::process {
namespace {

constinit PerInterpreter<ForkHandlers> all;

template <void (*ForkHandlers::*which)()>
void callOwn() {
  const InterpreterId slot = Ownership::instance().current();
  const ForkHandlers* const own = all.find(slot);
  if (!own) return;
  if (const auto handler = own->*which) handler();
}

}  // namespace

void setForkHandlers(InterpreterId slot, const ForkHandlers& handlers) noexcept {
  ForkHandlers* const own = all.find(slot);
  if (!own) return;
  *own = handlers;
  [[maybe_unused]] static const int registered =
      ::pthread_atfork(callOwn<&ForkHandlers::prepare>, callOwn<&ForkHandlers::inParent>,
                       callOwn<&ForkHandlers::inChild>);
}

}  // namespace multipy::process
