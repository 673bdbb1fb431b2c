// Process groups of torch.distributed by name.
//
// torch keeps one table of names per process, for operators that name their group
// ("0" is the first one of everybody). Here each interpreter has its own, so that
// several can be ranks, of one group or of several, in one process. Threads that
// are in no interpreter use torch's.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"
#include "torch_bridge/symbols/torch_functions.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addProcessGroupRoutes(TorchRoutes& routes);
/// Calls by torch that lead here.
ImportRedirections processGroupRedirections();
/// With the slot's GIL: its names are forgotten.
void purgeProcessGroups(InterpreterId slot);

}  // namespace multipy::bridge
