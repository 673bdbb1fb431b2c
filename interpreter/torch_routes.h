// Where a private libtorch_python's redirected calls end up.
//
// libtorch_python calls some 27 functions that change state which libtorch_cpu
// has once per process. In private copies those calls are renamed to functions
// of libinterpreter.so (interpreter/torch_shims.cpp), which know their
// interpreter's number statically and pass it on to this table, implemented by
// the router in the host (src/torch).
#pragma once

#include <cstdint>

namespace multipy {

struct TorchRoutes {
  // filled in by src/torch
};

}  // namespace multipy
