// How C++ nodes of an autograd graph call the compiler of compiled autograd, which
// is written in Python.
//
// torch has one such interface at a time, from the beginning to the end of a
// compilation. Here each interpreter has one, and a node finds that of the
// interpreter its thread is in.
//
// The code of a node in torch's shared libraries introduces its function to the
// compiler once per process (a static flag in each type of node) and from then on
// names it. So such functions are kept here, and each interpreter's compiler is told
// of those that it does not know before it is asked for one. Private libraries have
// flags of their own: they speak to their interpreter's compiler directly.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"
#include "torch_bridge/symbols/torch_functions.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addCompilerInterfaceRoutes(TorchRoutes& routes);
/// Calls by torch that lead here.
ImportRedirections compilerInterfaceRedirections();
/// With the slot's GIL.
void purgeCompilerInterface(InterpreterId slot);

}  // namespace multipy::bridge
