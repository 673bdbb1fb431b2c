// Compiled autograd (torch._dynamo.compiled_autograd) in several interpreters.
//
// torch has one switch per process: while it is on, every backward pass of the
// process is given to one function of one libtorch_python, which compiles it. Our
// switch is each interpreter's own, and torch's stays off. A backward pass in an
// interpreter that has its switch on begins as any other does (Engine::execute
// finds out which nodes have to run) up to the point where the engine would run
// the graph. There the graph is replaced by one node of ours, which calls the
// interpreter's function:
//
//   Engine::execute ──► execute_with_graph_task ──► [ our node ] ──► compiled
//   (routed: notes         (routed: replaces           autograd of this
//    what is asked)         the root)                  interpreter
//
// So engine, queues and callbacks are torch's own. The other thing that torch has
// one of is the interface by which C++ nodes call the compiler:
// compiler_interface.h.
//
// Threads: all functions from any thread.
#pragma once

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>

#include "base/interpreter_id.h"
#include "torch_bridge/symbols/features/nodes.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addCompiledAutogradRoutes(TorchRoutes& routes);
/// With the slot's GIL: its switch is off.
void purgeCompiledAutograd(InterpreterId slot);

/// The node to run in place of `root`, if this thread's backward pass is to be
/// compiled; else null.
feature::NodePointer takeCompiledRoot(const std::shared_ptr<torch::autograd::GraphTask>& task,
                                      const feature::NodePointer& root);

}  // namespace multipy::bridge
