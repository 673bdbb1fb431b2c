// Source text of the modules given to InterpreterManager::registerModuleSource.
//
// Every import of every interpreter asks here first. So a look-up takes no lock: in a child
// of fork() no thread may be left to give it back.
//
// Threads: all members from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <string>

#include "base/mutex.h"

namespace multipy::runtime {

/// Python allows letters of any script; what it can never import is an empty part, a part that
/// begins with a digit, and ASCII that is no letter.
bool isModuleName(const std::string& name);

class ModuleSources {
 public:
  /// Throws InvalidArgument if `name` is no dotted Python module name.
  void add(std::string name, std::string source);
  std::optional<std::string> find(const std::string& name) const;
  /// Whether there is one below: of "a" there is "a.b", or "a.b.c".
  bool hasBelow(const std::string& package) const;
  std::size_t count() const;

 private:
  // What has been added stays until the end; the newest of a name is found first.
  struct Entry {
    const std::string name, source;
    const Entry* const next;
  };
  class Table {
   public:
    ~Table();
    void add(std::string name, std::string source);  // one thread at a time
    const Entry* find(const std::string& name) const;

   private:
    static constexpr std::size_t kLists = 256;
    static std::size_t listOf(const std::string& name);
    std::array<std::atomic<const Entry*>, kLists> lists_{};
  };

  base::Mutex mutex_;  // of threads that add
  Table sources_;
  Table packages_;  // by name, without a source
  std::atomic<std::size_t> count_{0};
};

}  // namespace multipy::runtime
