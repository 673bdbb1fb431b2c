// CUDA is started once for the process.
//
// torch starts it when an at::Context is first asked for a CUDA device, under a flag of that
// Context. Interpreters have Contexts of their own (interpreter_settings.h): each would start it,
// two perhaps at once, and what they make, the allocator's table of devices for one, is guarded
// by nothing but that flag. The start begins by counting the devices. That function leads here in
// libtorch_cuda, and first has the process's own Context start CUDA: what an interpreter's start
// does after it finds everything made.
//
// Threads: all functions from any thread.
#pragma once

#include "torch_bridge/symbols/torch_functions.h"

namespace multipy::bridge {

/// Calls by torch that lead here.
ImportRedirections cudaStartRedirections();

}  // namespace multipy::bridge
