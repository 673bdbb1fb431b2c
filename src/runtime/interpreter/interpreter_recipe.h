// What an interpreter is made from: worked out and checked once, then used for
// each interpreter of a manager.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loader/copy_cache.h"
#include "loader/isolation_policy.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/environment/python_installation.h"
#include "runtime/interpreter/module_sources.h"

namespace multipy::runtime {

struct InterpreterRecipe {
  PythonInstallation python;
  std::vector<std::string> extraPaths;  // behind sys.path's own
  std::shared_ptr<const loader::IsolationPolicy> policy;
  std::shared_ptr<loader::CopyCache> cache;
  std::shared_ptr<ModuleSources> sources;
};

/// Throws InvalidArgument (no environment), EnvironmentError, CacheError.
InterpreterRecipe prepareRecipe(const InterpreterManagerOptions& options);

/// Its environment and what is private there, without anything to keep copies in.
std::shared_ptr<const loader::IsolationPolicy> preparePolicy(
    const InterpreterManagerOptions& options);

/// What one interpreter is given is checked: InvalidArgument for a variable's name that
/// no environment can have.
void checkOptions(const InterpreterOptions& options);

/// The same with another environment.
InterpreterRecipe withEnvironment(const InterpreterRecipe& recipe,
                                  const InterpreterManagerOptions& options);

}  // namespace multipy::runtime
