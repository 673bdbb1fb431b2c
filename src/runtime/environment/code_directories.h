// Directories outside an installation from which Python code of an environment comes
// all the same: PYTHONPATH, the user's own site-packages, and what .pth files name
// (editable installs). Libraries that lie there belong to the environment.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "multipy/runtime/interpreter_options.h"
#include "runtime/environment/python_installation.h"

namespace multipy::runtime {

/// Those that exist. Nothing is run: what `import` lines of .pth files do is not seen.
/// A directory that holds the system's libraries as well is left out.
std::vector<std::filesystem::path> codeDirectories(const PythonInstallation& python,
                                                   const InterpreterOptions& options);

/// Without those that hold the system's libraries, too: "/", "/usr".
std::vector<std::filesystem::path> withoutSystemDirectories(
    std::vector<std::filesystem::path> directories);

/// The value of an environment variable for an interpreter with these options; empty
/// where there is none.
std::string variableOf(const InterpreterOptions& options, const std::string& name);

}  // namespace multipy::runtime
