// The default random generators of CUDA's devices: each interpreter's own, as the CPU's
// (interpreter_settings.h), so that torch.manual_seed(0) in one means for a GPU what it means in a
// process of its own, and is not heard by the others.
//
// torch has one for each device, in libtorch_cuda, and asks for it by a function that is redirected
// there and in private libraries. An interpreter's are made, seeded at random, when it first asks.
// A thread that is in no interpreter gets the process's. A torch without CUDA never asks.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"
#include "torch_bridge/symbols/torch_functions.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addCudaGeneratorRoutes(TorchRoutes& routes);
/// Calls by torch that lead here.
ImportRedirections cudaGeneratorRedirections();
/// A part of teardown, when no thread can be in the interpreter any more. What still refers to a
/// generator's state (a CUDA graph that was captured) keeps it.
void forgetCudaGenerators(InterpreterId slot) noexcept;

}  // namespace multipy::bridge
