// What the program's own libtorch_python calls in place of torch's functions once there are private
// interpreters: the routes (abi/torch_routes.h), as an interpreter's copy does, for
// InterpreterId::program().
//
// Threads: any.
#pragma once

#include "torch_bridge/symbols/torch_functions.h"

namespace multipy::bridge {

/// For that library alone, whose file stays as it is: its global offset table is changed.
const ImportRedirections& programRedirections();

}  // namespace multipy::bridge
