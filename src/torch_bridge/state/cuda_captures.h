// CUDA graphs that interpreters capture at the same time.
//
// While a stream of a context is being captured, nothing may wait for all of that context's work:
// the wait fails, and so does the capture. Interpreters share a context, and torch.cuda.graph()
// begins with such a wait. So here a wait for the device lets captures of other threads end
// first, and a capture begins when no other thread waits for the device. And what is captured by
// CUDA's mode "global", torch's default, by which an allocation of memory in any other thread
// spoils the capture, is captured by "thread_local".
//
// A wait for a capture that does not end is given up after a minute, and the capture not waited
// for any more: then what happens is what CUDA does.
//
// Not seen here: waits for the device that are not torch's, and those of a program that is a Python
// itself.
//
// Threads: all functions from any thread. Python calls them without its GIL.
#pragma once

#include "torch_bridge/symbols/torch_functions.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addCudaCaptureRoutes(TorchRoutes& routes);
/// Calls by torch that lead here.
ImportRedirections cudaCaptureRedirections();

}  // namespace multipy::bridge
