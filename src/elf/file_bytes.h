// The bytes of a file, mapped and not read: of a library of 400 MB whose
// metadata are asked for, only the pages that hold metadata are touched.
//
// The mapping is private and read-only. As with the dynamic linker's own
// mappings, truncating the file in place meanwhile is an error of the program that does
// it (the reader gets SIGBUS); replacing it, as package managers do, is not.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace multipy::elf {

/// Bytes and who keeps them alive. Copies share them.
struct FileBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;

  /// Throws LoadError if `file` cannot be opened or mapped or is no regular file.
  static FileBytes map(const std::filesystem::path& file);
  static FileBytes own(std::vector<std::byte> bytes);
};

}  // namespace multipy::elf
