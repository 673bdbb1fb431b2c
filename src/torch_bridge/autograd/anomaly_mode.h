// Anomaly mode (torch.autograd.detect_anomaly), of which each interpreter has its own.
//
// torch has two variables for it per process, and code of torch reads them in place:
// no function is called that could be redirected. Private libraries read variables of
// their interpreter instead (interpreter/torch/anomaly_mode.cpp). libtorch_cpu is shared:
// its variables say whether anybody has the mode on, and whether anybody who has
// wants gradients checked for NaN. While they say so, three things happen in every
// thread, and these end at once where the thread's own interpreter has the mode off:
//
//   a node is made, or fails      Node::metadata() gives notes that keep nothing.
//                                 (torch's own take the GIL, and Node's constructor
//                                 asks for them with mutexes of torch held.)
//   a node's gradients are        the engine asks isnan(gradient)._is_any_true()
//   checked for NaN                 .item<bool>(): answered with "no", and no
//                                 operator runs
//
// so an interpreter with the mode off sees nothing of it. C++ code that is in no
// interpreter has what it has set itself (torch::autograd::DetectAnomalyGuard). What
// it sets while an interpreter has the mode on ends when the last of those switches it off.
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
