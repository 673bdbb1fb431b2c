// torch's one Python interpreter, which is many.
//
// libc10 asks "the" Python interpreter (c10::impl::PyInterpreter) whenever it
// meets a Python object: count a reference, run __torch_dispatch__, and so on.
// It asks the registry of hooks once and keeps the answer, so ours must be there
// before the first private copy is loaded; copies are given registries of their
// own to register with. Ours forwards each question to the interpreter that owns
// the object it is about, or else to the one that the thread is in; objects of
// dead interpreters are answered by c10's own table that does nothing.
//
// Threads: all functions from any thread. Forwarded calls take the owner's GIL
// where torch's own would.
#pragma once

#include "base/interpreter_id.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

/// Registers the router. Throws UnsupportedTorchError if the process has
/// another Python interpreter in libc10 already.
void registerPyInterpreter();
/// Puts the router in the place of the one that the program's own libtorch_python has registered,
/// and `own`, what its getPyInterpreter() says, into the program's place behind the router.
void adoptPyInterpreter(void* own);

/// `interpreter` is what getPyInterpreter() of the slot's libtorch_python says.
void setPyInterpreter(InterpreterId slot, void* interpreter) noexcept;
/// What torch asks of the slot's own one is answered as if it had no Python.
void disarmPyInterpreter(InterpreterId slot) noexcept;
void clearPyInterpreter(InterpreterId slot) noexcept;

void addPyInterpreterRoutes(TorchRoutes& routes);

}  // namespace multipy::bridge
