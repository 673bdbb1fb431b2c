// A program that is a Python itself, or has one: its own `import torch`, before or after, beside
// that of private interpreters.
//
// Its libtorch_python is the file as it is. It registers with torch by itself, so it is what stays
// loaded in the process (torch_bridge.h, "resident"): it is loaded before any interpreter's copy,
// whether the program has imported torch, will, or never does. From then on its Python is one of
// those that the router knows, InterpreterId::program(): what torch's core asks of Python is led to
// the owner of the object or to whom the thread is with (py_interpreter_router.h), what it
// registers goes to the router (program_routes.h), and what it has registered before is found
// (program_kernels.h, replaced_words.h). Its settings are the process's own, as C++'s.
//
// Threads: any. What is adopted is found by looking at what the program's Python has done so far,
// so no thread of it should be importing torch meanwhile: hold its GIL where that may be.
#pragma once

#include <filesystem>

namespace multipy::bridge {

/// Has the process a Python that this torch can work in, of the version that this was built for?
/// Decided at the first call.
bool programHasPython();

/// Once; further calls have no effect. Only where programHasPython(). Throws UnsupportedTorchError,
/// LoadError.
void adoptProgramsPython();

/// Loads a library that registers with torch as it is, for the program, for good. Throws LoadError.
void loadForProgram(const std::filesystem::path& library);

}  // namespace multipy::bridge
