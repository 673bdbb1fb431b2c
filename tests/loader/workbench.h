// Where the loader's tests build libraries and load them privately.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loader/private_space.h"

namespace multipy::loader::testing {

/// A temporary folder, removed with what is in it.
class Workbench {
 public:
  Workbench();
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  /// Compiles and links `source` (C++ if `name` contains "++", else C) into the
  /// library `name`, a path below the folder. Throws with the compiler's words.
  std::filesystem::path build(const std::string& name, const std::string& source,
                              const std::string& flags = "") const;
  void write(const std::string& name, const std::string& text) const;

  /// libinterpreter.so as the loader knows it, without CPython: it exports the
  /// C API function PzThing_Who() ("interpreter") and the multipy_dl* functions,
  /// which ask the space it was attached to.
  const std::vector<std::byte>& standIn() const;

 private:
  std::filesystem::path folder_;
};

std::vector<std::byte> readBytes(const std::filesystem::path& file);
/// The output of a shell command. Throws with it if the command fails.
std::string run(const std::string& command);

/// A private space with a stand-in interpreter in it; unloaded at the end.
class LivingSpace {
 public:
  LivingSpace(const Workbench& bench, int slot, std::shared_ptr<const IsolationPolicy> policy,
              std::shared_ptr<CopyCache> cache, LibraryAdapter* adapter = nullptr);
  ~LivingSpace();
  PrivateSpace* operator->() { return &space_; }
  PrivateSpace& space() { return space_; }
  void* interpreter() const { return interpreter_; }

 private:
  PrivateSpace space_;
  void* interpreter_;
};

/// Calls the function `name` of a library.
template <class Result = int, class... Arguments>
Result call(void* library, const char* name, Arguments... arguments);

void* addressOf(void* library, const char* name);

template <class Result, class... Arguments>
Result call(void* library, const char* name, Arguments... arguments) {
  return reinterpret_cast<Result (*)(Arguments...)>(addressOf(library, name))(arguments...);
}

/// Mappings of files whose path contains `part`.
int mappingsOf(const std::string& part);

}  // namespace multipy::loader::testing
