// Everything of multipy's C++ API, under the name of the header that programs
// written for torch::deploy include; namespace torch::deploy is an alias of
// multipy::runtime. It brings along the torch headers that such programs could
// count on. A program of its own can include the headers it needs one by one:
// those include little of torch.
//
// Where to start reading: interpreter_manager.h.
#pragma once

#include <ATen/ATen.h>
#include <c10/util/irange.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/api/include/torch/imethod.h>
#include <torch/csrc/jit/serialization/import.h>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/awaited_call.h"
#include "multipy/runtime/call_options.h"
#include "multipy/runtime/call_outcome.h"
#include "multipy/runtime/environment.h"
#include "multipy/runtime/interpreter.h"
#include "multipy/runtime/interpreter_manager.h"
#include "multipy/runtime/interpreter_options.h"
#include "multipy/runtime/interpreter_session.h"
#include "multipy/runtime/isolation.h"
#include "multipy/runtime/load_balancer.h"
#include "multipy/runtime/noop_environment.h"
#include "multipy/runtime/obj.h"
#include "multipy/runtime/package.h"
#include "multipy/runtime/path_environment.h"
#include "multipy/runtime/pool_figures.h"
#include "multipy/runtime/pool_observer.h"
#include "multipy/runtime/pool_options.h"
#include "multipy/runtime/pool_stats.h"
#include "multipy/runtime/python_environment.h"
#include "multipy/runtime/python_method_wrapper.h"
#include "multipy/runtime/replicated_obj.h"
#include "multipy/runtime/stacks.h"
#include "multipy/runtime/stats_socket.h"
#include "multipy/runtime/version.h"

namespace torch {
namespace deploy = multipy::runtime;
}
