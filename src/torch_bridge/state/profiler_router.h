// The profiler: Python's part of it per interpreter, the whole of it in one
// interpreter at a time. See profiler_router.cpp.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

class ReplacedWords;

void addProfilerRoutes(TorchRoutes& routes);
/// What torch has now becomes the program's own Python's. Before any interpreter has torch.
void adoptProfiler(const ReplacedWords& before);
/// From now on what the program's own Python profiles is known here (bound_functions.h). Until then
/// it is not kept apart from what interpreters do.
void admitProgramsProfiler();
void purgeProfiler(InterpreterId slot);

}  // namespace multipy::bridge
