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

void addProfilerRoutes(TorchRoutes& routes);
void purgeProfiler(InterpreterId slot);

}  // namespace multipy::bridge
