// libtorch_python's own functions, found in an interpreter's private copy.
//
// Threads: all functions from any thread.
#pragma once

#include "abi/host_services.h"
#include "base/interpreter_id.h"

namespace multipy::bridge {

/// Looks the functions up in `handle` (dlopen's, of slot's libtorch_python) and
/// connects the slot's PyInterpreter. Throws UnsupportedTorchError; does not
/// happen with a library that verifyTorch() has accepted.
void bindTorchPython(InterpreterId slot, void* handle);
/// The library is gone.
void unbindTorchPython(InterpreterId slot) noexcept;

/// libtorch_python's functions in `slot`; null while torch is not loaded there.
const TorchPython* torchPython(InterpreterId slot);

}  // namespace multipy::bridge
