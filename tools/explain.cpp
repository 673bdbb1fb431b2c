#include <algorithm>
#include <filesystem>
#include <iostream>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/isolation.h"
#include "tools/command.h"
#include "tools/isolation_text.h"
#include "tools/options.h"
#include "tools/tool_modules.h"

namespace multipy::tools {
namespace {

// A path, or else the name of a module.
std::vector<std::string> pathsOf(const std::string& word,
                                 const runtime::InterpreterManagerOptions& options) {
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) return {word};
  if (word.find('/') != std::string::npos) throw runtime::LoadError("there is no file " + word);
  runtime::InterpreterManager manager(1, options);
  registerToolModule(manager);
  const auto session = manager.acquireOne();
  return filesOf(session, word);
}

int explain(const Words& words) {
  const Options options(words, withEnvironmentOptions({}));
  if (options.words().empty()) throw UsageError("expected a library, a directory, or a module");
  const auto settings = options.interpreterOptions();
  bool sound = true;
  for (const std::string& word : options.words()) {
    std::size_t count = 0;
    for (const std::string& path : pathsOf(word, settings)) {
      if (path.ends_with(".py") || path.ends_with(".pyc")) continue;
      for (const auto& library : runtime::explainIsolation(path, settings)) {
        std::cout << isolationText(library);
        sound &= library.problem.empty() && library.missing.empty();
        ++count;
      }
    }
    if (count == 0) std::cout << word << " has no shared libraries: nothing to be isolated\n";
  }
  return sound ? kDone : kFailed;
}

}  // namespace

const Command kExplainCommand = {
    "explain", "which libraries are private or shared, and why",
    R"(usage: multipy explain [options] <library | directory | module>...

Says for each library, and for all that it needs, whether each interpreter has a
copy of its own or the process has one, and why. Nothing is loaded; a module's
files are found by its environment's import system, without importing it.

Exit code 1 if a library is damaged or needs one that is nowhere to be found.
)",
    /*makesInterpreters=*/true, explain};

}  // namespace multipy::tools
