// What Python code can ask of the server: C functions, whose addresses it is given and which it
// calls through ctypes, that is without its GIL (python/_multipy_triton_server.py declares them
// there).
//
// Threads: the functions are called by any of Python's threads.
#pragma once

namespace c10 {
struct IValue;
}

namespace multipy::triton {

/// Name and address of each, as a dict.
c10::IValue pythonFunctions();

}  // namespace multipy::triton
