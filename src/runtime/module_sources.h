// Source text of the modules given to InterpreterManager::registerModuleSource.
// Threads: all members from any thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace multipy::runtime {

class ModuleSources {
 public:
  /// Throws InvalidArgument if `name` is no dotted Python module name.
  void add(std::string name, std::string source);
  std::optional<std::string> find(const std::string& name) const;
  std::size_t count() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::string> sources_;  // guarded by mutex_
};

}  // namespace multipy::runtime
