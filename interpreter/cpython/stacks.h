// Which Python code the threads of this interpreter are executing.
#pragma once

#include <Python.h>

#include <vector>

#include "multipy/runtime/stacks.h"

namespace multipy {

/// With the GIL. Runs no Python code.
void collectStacks(std::vector<runtime::ThreadStack>* out);

/// With the GIL. The function that a thread executes, or goes on with once C code returns to it;
/// empty if there is none. Runs no Python code.
runtime::StackFrame topFrame(PyThreadState* state);

/// Without the GIL, in a process where nothing else runs: a child of fork().
void writeStacks(int file);

}  // namespace multipy
