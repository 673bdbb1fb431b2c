#include "multipy/runtime/isolation.h"

#include <utility>

#include "loader/isolation_report.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/interpreter/interpreter_recipe.h"

namespace multipy::runtime {

std::vector<ExplainedLibrary> explainIsolation(const std::filesystem::path& path,
                                               const InterpreterManagerOptions& options) {
  std::vector<ExplainedLibrary> explained;
  for (auto& library : loader::reportIsolation(preparePolicy(options), path)) {
    ExplainedLibrary one;
    one.file = std::move(library.file);
    one.isPrivate = library.verdict.isolation == loader::Isolation::Private;
    one.reason = std::move(library.verdict.reason);
    one.needs = std::move(library.needs);
    for (auto& missing : library.missing)
      one.missing.push_back({std::move(missing.name), std::move(missing.searched)});
    one.problem = std::move(library.problem);
    explained.push_back(std::move(one));
  }
  return explained;
}

std::vector<ExplainedLibrary> explainIsolation(const std::filesystem::path& path) {
  return explainIsolation(path, InterpreterManagerOptions{});
}

}  // namespace multipy::runtime
