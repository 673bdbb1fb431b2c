// Settings of torch that plain Python expects to be its own: the default random
// generator, the default dtype and at::Context (deterministic algorithms,
// precisions, backends' switches). torch has one of each per process; here each
// interpreter has its own, so that a program's torch.manual_seed(0) or
// torch.set_default_dtype() means what it means in a process of its own.
//
// Their getters are redirected: in private libraries by name (abi/redirects.def),
// in torch's shared libraries by their global offset tables. A thread that is in
// no interpreter (C++ code, torch's own pools) gets the process's.
//
// An interpreter begins with the process's default dtype and Context as they
// stand when it first asks for them, and with a generator seeded at random, as
// plain Python's. TorchScript's switches and variables that torch reads in place
// remain the process's. (Others that torch keeps differently: anomaly_mode.h,
// cuda_generators.h, thread_numbers.h.)
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"
#include "torch_bridge/symbols/torch_functions.h"

namespace at {
class Context;
}  // namespace at

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addSettingsRoutes(TorchRoutes& routes);

/// Calls by torch that lead here.
ImportRedirections settingRedirections();

/// The process's own.
at::Context& processContext();

/// A part of teardown, after unloading, when no thread can be in the interpreter any more: its
/// settings of torch are freed.
void forgetSettings(InterpreterId slot) noexcept;

}  // namespace multipy::bridge
