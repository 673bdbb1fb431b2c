#include "tools/tool_modules.h"

#include "tools/python_sources.h"

namespace multipy::tools {

void registerToolModule(runtime::InterpreterManager& manager) {
  for (std::size_t i = 0; i < pythonSourceCount; ++i)
    manager.registerModuleSource(pythonSources[i].name, pythonSources[i].text);
}

std::vector<std::string> filesOf(const runtime::InterpreterSession& session,
                                 const std::string& module) {
  std::vector<std::string> files;
  const at::IValue found = session.global(kToolModule, "files_of")({module}).toIValue();
  for (const at::IValue& file : found.toListRef()) files.push_back(file.toStringRef());
  return files;
}

}  // namespace multipy::tools
