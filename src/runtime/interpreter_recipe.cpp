#include "runtime/interpreter_recipe.h"

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/environment.h"

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
  roots.insert(roots.end(), recipe.extraPaths.begin(), recipe.extraPaths.end());
  auto policy = std::make_shared<loader::IsolationPolicy>(std::move(roots));
  for (const IsolationOverride& mine : options.isolationOverrides)
    policy->override(mine.pattern,
                     mine.isPrivate ? loader::Isolation::Private : loader::Isolation::Shared);
  return policy;
}

void useEnvironment(InterpreterRecipe& recipe, const InterpreterManagerOptions& options) {
  if (!options.environment)
    throw InvalidArgument(
        "cannot make interpreters: the environment is a null pointer, expected "
        "one of multipy/runtime/environment.h, like NoopEnvironment");
  recipe.python = installationOf(*options.environment);
  recipe.extraPaths = options.environment->getExtraPythonPaths();
  recipe.policy = policyFor(recipe, options);
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

InterpreterRecipe withEnvironment(const InterpreterRecipe& recipe,
                                  const InterpreterManagerOptions& options) {
  InterpreterRecipe changed = recipe;
  useEnvironment(changed, options);
  return changed;
}

}  // namespace multipy::runtime
