// What torch_router.h leaves out of the hand-off of tensors. See the essay in
// tensor_handoff.cpp.
#pragma once

namespace multipy::routing {

struct HandoffCounts {
  long crossings, live, deferred, leaked;
};
HandoffCounts handoffCounts() noexcept;

}  // namespace multipy::routing
