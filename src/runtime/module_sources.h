// Source text of the modules given to InterpreterManager::registerModuleSource.
// Threads: all members from any thread.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace multipy::runtime {

class ModuleSources {
 public:
  /// Throws InvalidArgument if `name` is no dotted Python module name.
  void add(std::string name, std::string source);
  std::optional<std::string> find(const std::string& name) const;
  /// Whether there is one below: of "a" there is "a.b", or "a.b.c".
  bool hasBelow(const std::string& package) const;
  std::size_t count() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> sources_;  // guarded by mutex_
};

}  // namespace multipy::runtime
