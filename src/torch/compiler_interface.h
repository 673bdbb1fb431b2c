// How C++ nodes of an autograd graph call the compiler of compiled autograd, which
// is written in Python.
//
// torch has one such interface at a time, from the beginning to the end of a
// compilation. Here each interpreter has one, and a node finds that of the
// interpreter its thread is in.
//
// A node's C++ code introduces its function to the compiler once per process (a
// static flag in each node type) and from then on names it. So what one
// interpreter's compiler was told is kept, and told to the others'.
//
// Threads: all functions from any thread.
#pragma once

#include "interpreter/torch_routes.h"

namespace multipy::routing {

void addCompilerInterfaceRoutes(TorchRoutes& routes);
/// As redirectSettings(): before and after each load of a libtorch_python.
void redirectCompilerInterface();
/// With the slot's GIL.
void purgeCompilerInterface(int slot);

}  // namespace multipy::routing
