// libtorch_python's own functions, found in an interpreter's private copy.
//
// Threads: all functions from any thread.
#pragma once

#include "abi/host_services.h"

namespace multipy::routing {

/// Looks the functions up in `handle` (dlopen's, of slot's libtorch_python) and
/// connects the slot's PyInterpreter. Throws UnsupportedTorchError; does not
/// happen with a library that verifyTorch() has accepted.
void bindTorchPython(int slot, void* handle);
/// The library is gone.
void unbindTorchPython(int slot) noexcept;

/// libtorch_python's functions in `slot`; null while torch is not loaded there.
const TorchPython* torchPython(int slot);

}  // namespace multipy::routing
