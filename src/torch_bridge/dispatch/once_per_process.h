// What can be registered with torch only once per process: custom classes and
// their methods, JIT operators, control-plane handlers, opaque types.
//
// The resident copy registers; further copies find it done (static_phase.h). JIT
// operators that are made by a function which looks at the graph node
// (prim::PythonOp) are an exception: that function works with its own copy's
// Python, so each copy's is kept and the one of the current interpreter is called.
//
// Threads: all functions from any thread.
#pragma once

#include <functional>

#include "base/interpreter_id.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addOncePerProcessRoutes(TorchRoutes& routes);
/// Of a library that the program's own Python has loaded as it is: from now on its operators are
/// made by the current interpreter's copy. `isLibrarys` tells of a function whether it is the
/// library's.
void adoptOperators(const std::function<bool(const void*)>& isLibrarys);
void purgeOncePerProcess(InterpreterId slot);

}  // namespace multipy::bridge
