// TorchScript decompositions that Python registers for operators without a
// derivative of their own (torch._decomp.decompositions_for_jvp, imported by the
// first use of forward-mode autograd).
//
// torch keeps one graph per operator and process: the first one runs, the last
// one is shown. A graph may call the Python function of the interpreter that made
// it, and is made of classes of its libtorch_python, so it must neither run in
// another interpreter nor outlive its own. Here each interpreter has its own
// graphs, and torch's table keeps those that come with torch.
//
// The passes that rewrite a graph by decompositions (jit::RunDecompositions) know
// torch's own only.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addDecompositionRoutes(TorchRoutes& routes);
/// With the slot's GIL: its graphs are dropped.
void purgeDecompositions(InterpreterId slot);

}  // namespace multipy::bridge
