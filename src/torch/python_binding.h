// libtorch_python's own functions, found in an interpreter's private copy.
//
// Threads: all functions from any thread.
#pragma once

namespace multipy::routing {

/// Looks the functions up in `handle` (dlopen's, of slot's libtorch_python) and
/// connects the slot's PyInterpreter. Throws UnsupportedTorchError; does not
/// happen with a library that verifyTorch() has accepted.
void bindTorchPython(int slot, void* handle);
/// The library is gone.
void unbindTorchPython(int slot) noexcept;

}  // namespace multipy::routing
