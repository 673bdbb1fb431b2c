// Anomaly mode (torch.autograd.detect_anomaly), of which each interpreter has its own.
//
// torch has two variables for it per process, and code of torch reads them in place:
// no function is called that could be redirected. Private libraries read variables of
// their interpreter instead (interpreter/torch/anomaly_mode.cpp), and torch's own are what
// C++ has set (torch::autograd::DetectAnomalyGuard), or the program's own Python.
//
// libtorch_cpu is shared. While any interpreter has the mode on, it reads a variable that
// says so instead of torch's own (the words of its global offset table that lead to those
// are written). Three things happen in every thread then, and these end at once where the
// thread's own interpreter, or C++ in a thread that is in none, has the mode off:
//
//   a node is made, or fails      Node::metadata() gives notes that keep nothing.
//                                 (torch's own take the GIL, and Node's constructor
//                                 asks for them with mutexes of torch held.)
//   a node's gradients are        the engine asks isnan(gradient)._is_any_true()
//   checked for NaN                 .item<bool>(): answered with "no", and no
//                                 operator runs
//
// so that nothing else sees of it.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"
#include "torch_bridge/symbols/torch_functions.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addAnomalyModeRoutes(TorchRoutes& routes);
/// Calls by torch that lead here.
ImportRedirections anomalyModeRedirections();
/// With the slot's GIL: its mode is off.
void purgeAnomalyMode(InterpreterId slot);

}  // namespace multipy::bridge
