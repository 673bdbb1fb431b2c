#include "runtime/interpreter/interpreter_recipe.h"

#include <filesystem>
#include <string>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/environment.h"
#include "runtime/environment/code_directories.h"
#include "runtime/interpreter/python_options.h"

namespace multipy::runtime {
namespace {

PythonInstallation installationOf(const Environment& environment) {
  const std::string prefix = environment.pythonPrefix();
  if (prefix.empty()) return defaultPython();
  return pythonInPrefix(prefix, "named by the Environment");
}

std::shared_ptr<const loader::IsolationPolicy> policyFor(const InterpreterRecipe& recipe,
                                                         const InterpreterManagerOptions& options) {
  std::vector<std::filesystem::path> roots = recipe.python.libraryRoots;
  const auto add = [&](const std::vector<std::filesystem::path>& more) {
    roots.insert(roots.end(), more.begin(), more.end());
  };
  add(withoutSystemDirectories({recipe.extraPaths.begin(), recipe.extraPaths.end()}));
  add(codeDirectories(recipe.python, options.interpreters));
  auto policy = std::make_shared<loader::IsolationPolicy>(std::move(roots));
  // The first of ours that matches decides, the last of the policy's.
  for (auto mine = options.isolationOverrides.rbegin(); mine != options.isolationOverrides.rend();
       ++mine)
    policy->override(mine->pattern,
                     mine->isPrivate ? loader::Isolation::Private : loader::Isolation::Shared);
  return policy;
}

void useEnvironment(InterpreterRecipe& recipe, const InterpreterManagerOptions& options) {
  if (!options.environment)
    throw InvalidArgument(
        "cannot make interpreters: the environment is a null pointer, expected "
        "one of multipy/runtime/environment.h, like NoopEnvironment");
  try {
    recipe.python = installationOf(*options.environment);
    if (!options.interpreters.isolated)
      checkPythonHome(variableOf(options.interpreters, "PYTHONHOME"));
    recipe.extraPaths = options.environment->getExtraPythonPaths();
    recipe.policy = policyFor(recipe, options);
  } catch (const std::filesystem::filesystem_error& error) {
    throw EnvironmentError(
        std::string("cannot make interpreters, since a folder of the environment cannot be looked "
                    "at: ") +
        error.what() + "; expected one that this user may read, or that is not there");
  }
}

}  // namespace

InterpreterRecipe prepareRecipe(const InterpreterManagerOptions& options) {
  InterpreterRecipe recipe;
  useEnvironment(recipe, options);
  recipe.cache = options.cacheDirectory.empty() ? loader::CopyCache::forUser()
                                                : loader::CopyCache::in(options.cacheDirectory);
  recipe.sources = std::make_shared<ModuleSources>();
  return recipe;
}

std::shared_ptr<const loader::IsolationPolicy> preparePolicy(
    const InterpreterManagerOptions& options) {
  InterpreterRecipe recipe;
  useEnvironment(recipe, options);
  return recipe.policy;
}

void checkOptions(const InterpreterOptions& options) {
  for (const std::string& argument : options.arguments) {
    if (argument.find('\0') != std::string::npos)
      throw InvalidArgument(std::string("InterpreterOptions: the argument '") + argument.c_str() +
                            "' goes on after a null character, expected none: what follows "
                            "would be lost in sys.argv");
  }
  parsePythonOptions(options.pythonOptions);
  const auto checkNames = [](const std::vector<std::string>& names, const char* option) {
    for (const std::string& name : names)
      if (!isModuleName(name))
        throw InvalidArgument(std::string("InterpreterOptions::") + option + ": '" + name.c_str() +
                              "' cannot be a module's name, expected one as in an import");
  };
  checkNames(options.slimImporters, "slimImporters");
  checkNames(options.slimModules, "slimModules");
  if (!options.environmentVariables) return;
  for (const auto& [name, value] : *options.environmentVariables) {
    if (name.empty() || name.find('=') != std::string::npos ||
        (name + value).find('\0') != std::string::npos)
      throw InvalidArgument(
          std::string("InterpreterOptions: cannot set the environment variable '") + name.c_str() +
          "': expected a name that is not empty and has no '=', and no null "
          "character in name or value");
  }
}

InterpreterRecipe withEnvironment(const InterpreterRecipe& recipe,
                                  const InterpreterManagerOptions& options) {
  InterpreterRecipe changed = recipe;
  useEnvironment(changed, options);
  return changed;
}

}  // namespace multipy::runtime
