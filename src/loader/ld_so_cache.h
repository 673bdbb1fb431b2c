// /etc/ld.so.cache: where ldconfig has found the system's libraries.
//
// Threads: immutable once read; const members from any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "elf/machine.h"

namespace multipy::loader {

class LdSoCache {
 public:
  /// Empty if there is no such file or it is not one that we understand: ld.so
  /// goes on without it then, and so do we.
  static LdSoCache read(const std::filesystem::path& file = "/etc/ld.so.cache",
                        const elf::Machine& machine = elf::Machine::host());
  static LdSoCache parse(std::span<const std::byte> bytes, const elf::Machine& machine);

  /// The file for a soname; empty if there is none.
  std::filesystem::path find(const std::string& soname) const;
  std::size_t size() const noexcept { return files_.size(); }

 private:
  std::map<std::string, std::string, std::less<>> files_;  // soname → path
};

}  // namespace multipy::loader
