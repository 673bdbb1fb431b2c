// The device threads of an interpreter's autograd engine.
//
// An engine has a thread for each GPU (and for each other device that torch was
// built with). It is made by libtorch_cpu, but its outermost function is
// PythonEngine's, in the interpreter's own libtorch_python. So these threads must
// have ended before that library is unloaded, and before Python is finalised,
// since they take the GIL on their way out. torch itself tells them to end only
// when the engine is destroyed, which is while its library is being unloaded.
//
// Threads: all functions from any thread.
#pragma once

#include <cstddef>

#include "base/interpreter_id.h"

namespace multipy::bridge {

/// By a device thread of `slot`'s engine, when it begins to work.
void noteEngineThread(InterpreterId slot);
/// Those that still exist. A thread counts until the kernel has forgotten it.
std::size_t engineThreads(InterpreterId slot);
/// Waits, for at most some seconds, until there are none.
void waitForEngineThreads(InterpreterId slot);

}  // namespace multipy::bridge
