// InterpreterOptions::pythonOptions, read as python reads its command line.
#pragma once

#include <string>
#include <vector>

#include "abi/interpreter_api.h"

namespace multipy::runtime {

/// Throws InvalidArgument for an option that is not taken, or that lacks its argument.
PythonFlags parsePythonOptions(const std::vector<std::string>& options);

}  // namespace multipy::runtime
