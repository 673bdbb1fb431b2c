// Functions that torch has room for one of per process, set by libtorch_python:
// the last one wins, and is left dangling when its library goes. Here each is a
// table by interpreter; torch gets one function of ours that looks up the entry
// of the interpreter the calling thread is in, and does what torch does without
// Python where there is none.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

class ReplacedWords;

void addProcessSlotRoutes(TorchRoutes& routes);   // process_slots.cpp
void addTracebackRoutes(TorchRoutes& routes);     // traceback_router.cpp
void addThreadObjectRoutes(TorchRoutes& routes);  // thread_objects.cpp
void addDeviceGuardRoutes(TorchRoutes& routes);   // device_guard.cpp
/// What torch has now becomes the program's own Python's. Before any interpreter has torch.
void adoptProcessSlots(const ReplacedWords& before);
void adoptTracebacks();
/// With the slot's GIL: its functions are called no longer.
void purgeProcessSlots(InterpreterId slot);
void purgeTracebacks(InterpreterId slot);

}  // namespace multipy::bridge
