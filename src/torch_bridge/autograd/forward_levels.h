// Levels of forward-mode autograd (torch.autograd.forward_ad.dual_level, jvp).
//
// torch has one list of open levels per process, and room for one level in it.
// Here each interpreter has a list of its own, as if in a process of its own; a
// thread that is in no interpreter uses the process's. torch's functions that
// work on the list are redirected: in private libraries by name
// (abi/redirects.def), in torch's shared libraries by their global offset
// tables.
//
// A tensor with a tangent that dies in another thread than its interpreter's is
// looked for in the wrong list and not found there, which torch allows for: the
// tangent then lives until its level is left.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"
#include "torch_bridge/symbols/torch_functions.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addForwardLevelRoutes(TorchRoutes& routes);

/// Calls by torch that lead here.
ImportRedirections forwardLevelRedirections();

/// With the slot's GIL: levels that were left open are closed.
void purgeForwardLevels(InterpreterId slot);

}  // namespace multipy::bridge
