// Where the tests build libraries, edit them and load them.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "elf/edited_copy.h"

namespace multipy::elf::testing {

/// A compiler together with a linker.
struct Toolchain {
  std::string name;
  std::string compiler;  // command line to start with

  bool isGcc() const { return name.starts_with("gcc"); }
  bool links(const char* linker) const { return name.ends_with(linker); }
};
std::ostream& operator<<(std::ostream& out, const Toolchain& toolchain);

/// The output of a shell command, stderr included. Throws with it if the
/// command fails.
std::string run(const std::string& command);

std::vector<std::byte> readFile(const std::filesystem::path& file);
void writeFile(const std::filesystem::path& file, const std::vector<std::byte>& bytes);

/// A temporary folder, removed with what is in it.
class Workshop {
 public:
  Workshop();
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  /// Compiles and links the C++ `source` into `name`.
  std::filesystem::path build(const Toolchain& toolchain, const std::string& name,
                              const std::string& source, const std::string& flags = "") const;
  /// Writes `text` into the file `name`.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

  /// Edits `original` into the file `name`. An empty soname becomes one that
  /// no other copy of this process has.
  std::filesystem::path copy(const std::filesystem::path& original, const std::string& name,
                             Edits edits = {}, EditReport* report = nullptr) const;

 private:
  std::filesystem::path folder_;
};

/// `edits` with a soname that no other copy has, if they lack one.
Edits completed(Edits edits);

/// A library while it is loaded (RTLD_NOW | RTLD_LOCAL). Throws with dlerror().
class Loaded {
 public:
  explicit Loaded(const std::filesystem::path& library);
  ~Loaded();
  Loaded(Loaded&& other) noexcept;
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  void* symbol(const char* name) const;

  /// Calls the function `name`.
  template <class Result = int, class... Arguments>
  Result call(const char* name, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(symbol(name))(arguments...);
  }

  /// Whether anything of the file is mapped.
  static bool isMapped(const std::filesystem::path& library);

 private:
  void* handle_;
};

}  // namespace multipy::elf::testing
