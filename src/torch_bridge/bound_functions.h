// Functions of torch that a program's torch has bound before there were private interpreters.
//
// The global offset table (program_routes.h) decides about calls. pybind11 binds some functions by
// their address, which it keeps in a record beside the Python function: the profiler's, and those
// that end the capture of a CUDA graph. These records are looked for in the modules torch._C, with
// the program's GIL. It is not waited for, as a thread may have it that waits for the one that
// starts an interpreter: the program's main thread does it, the next time that it runs Python.
//
// Threads: any.
#pragma once

#include "torch_bridge/symbols/torch_functions.h"

namespace multipy::bridge {

/// Has the records of the program's torch hold what the redirections name, and calls `done`, in its
/// main thread. Where it has not imported torch so far, there is none, and `done` is called too.
/// `redirections` and `libtorchPython`, a handle of dlopen's, stay as they are. Once.
void redirectBoundFunctions(const ImportRedirections& redirections, void* libtorchPython,
                            void (*done)());

}  // namespace multipy::bridge
