// Which Python code the threads of this interpreter are executing.
#pragma once

#include <vector>

#include "multipy/runtime/stacks.h"

namespace multipy {

/// With the GIL. Runs no Python code.
void collectStacks(std::vector<runtime::ThreadStack>* out);

/// Without the GIL, in a process where nothing else runs: a child of fork().
void writeStacks(int file);

}  // namespace multipy
