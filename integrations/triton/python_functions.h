// What Python code can ask of the server: C functions, whose addresses it is given and which it
// calls through ctypes, that is without its GIL (python/_multipy_triton_server.py declares them
// there).
//
// Threads: the functions are called by any of Python's threads.
#pragma once

#include "integrations/triton/told.h"

namespace multipy::triton {

/// Of requests that a model was given, and of the log.
FunctionTable requestFunctions();
/// Of requests to other models.
FunctionTable callFunctions();
/// Of metrics, and of the server's models.
FunctionTable serverFunctions();

}  // namespace multipy::triton
