// The tools' own Python code, in the interpreters that they make.
#pragma once

#include "multipy/runtime/interpreter_manager.h"

namespace multipy::tools {

inline constexpr const char* kToolModule = "_multipy_tools";

void registerToolModule(runtime::InterpreterManager& manager);

/// The files or directories of a module. Throws ModuleNotFoundError.
std::vector<std::string> filesOf(const runtime::InterpreterSession& session,
                                 const std::string& module);

}  // namespace multipy::tools
