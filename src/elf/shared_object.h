// What is in a shared object: a read-only, range-checked view of one ELF file
// as the dynamic linker sees it (System V gABI, chapters 4 and 5; GNU
// extensions as in glibc's elf.h). Section headers are never needed.
//
// Every offset, size, count and string index that comes from the file is
// checked before use; what is wrong throws multipy::runtime::ElfError with the
// file, the field, the value found and the one expected.
//
// Threads: immutable after construction; const members may be called from any
// number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/file_bytes.h"
#include "elf/machine.h"
#include "elf/symbol_versions.h"

namespace multipy::elf {

struct Segment {  // one program header, host byte order
  uint32_t type = 0;
  uint32_t flags = 0;
  uint64_t offset = 0;
  uint64_t vaddr = 0;
  uint64_t paddr = 0;
  uint64_t fileSize = 0;
  uint64_t memorySize = 0;
  uint64_t align = 0;
};

struct DynamicEntry {
  int64_t tag = 0;
  uint64_t value = 0;
};

struct Symbol {
  std::string_view name;
  uint8_t binding = 0;  // STB_*
  uint8_t type = 0;     // STT_*
  bool defined = false;
  uint64_t value = 0;
  uint64_t size = 0;
  uint32_t index = 0;  // in .dynsym
};

class SharedObject {
 public:
  /// Maps the file (see file_bytes.h): only what is looked at is read. Throws
  /// ElfError, or LoadError when it cannot be opened or is no regular file.
  static SharedObject read(const std::filesystem::path& file,
                           const Machine& machine = Machine::host());
  /// Takes bytes that came from somewhere else; `name` stands for the file in errors.
  static SharedObject parse(std::vector<std::byte> bytes, std::string name,
                            const Machine& machine = Machine::host());

  /// The same of bytes that stay where they are for as long as this object or any copy lives.
  static SharedObject view(std::span<const std::byte> bytes, std::string name,
                           const Machine& machine = Machine::host());

  const std::string& name() const noexcept { return name_; }
  /// The whole file. This span, and every string_view below, stays valid as
  /// long as this object or any copy of it lives; copies share the bytes.
  std::span<const std::byte> bytes() const noexcept { return file_.bytes; }
  const Machine& machine() const noexcept { return *machine_; }

  const std::vector<Segment>& segments() const noexcept { return segments_; }
  /// Up to, and without, DT_NULL.
  const std::vector<DynamicEntry>& dynamic() const noexcept { return dynamic_; }

  /// DT_SONAME, empty where there is none.
  std::string_view soname() const noexcept { return soname_; }
  /// DT_NEEDED, in their order.
  std::vector<std::string_view> needed() const;
  /// DT_RPATH / DT_RUNPATH as written, empty where there is none.
  std::string_view rpath() const noexcept { return rpath_; }
  std::string_view runpath() const noexcept { return runpath_; }
  bool has(int64_t tag) const noexcept { return dynamicValue(tag).has_value(); }
  /// Value of the last entry with this tag, which is the one that ld.so uses.
  std::optional<uint64_t> dynamicValue(int64_t tag) const noexcept;
  /// Bytes of the GNU build id note (PT_NOTE), empty where there is none.
  std::span<const std::byte> buildId() const noexcept { return buildId_; }
  /// DT_VERNEED: the libraries that versions are wanted of. ld.so aborts the
  /// process if one of them is not loaded under that name; they are DT_NEEDED
  /// as a rule, but not where a tool has dropped the DT_NEEDED alone.
  const std::vector<VersionNeed>& versionNeeds() const noexcept { return versionNeeds_; }

  /// Number of .dynsym entries, the null symbol included. Found from the hash
  /// tables and, for undefined-only tables, from the relocations that name them.
  uint32_t symbolCount() const noexcept { return symbolCount_; }
  /// Symbol `index` (0 < index < symbolCount(), else InvalidArgument). Throws
  /// ElfError if its name lies outside of the string table.
  Symbol symbol(uint32_t index) const;

  // Used by the editor.

  /// Where the `size` bytes at address `vaddr` lie in the file. Throws ElfError
  /// about `field` if they are not all in the file part of one PT_LOAD.
  uint64_t fileOffset(uint64_t vaddr, uint64_t size, const char* field) const;
  /// The string at `offset` of the dynamic string table.
  std::string_view string(uint64_t offset, const char* field) const;
  /// .dynstr, .dynsym and .gnu.version (empty where there is none).
  std::span<const std::byte> stringTable() const noexcept { return stringTable_; }
  std::span<const std::byte> symbolTable() const noexcept { return symbolTable_; }
  std::span<const std::byte> versionTable() const noexcept { return versionTable_; }

 private:
  SharedObject(std::string name, FileBytes file, const Machine& machine);

  // The stages of reading, in this order; each relies on those before it.
  void readSegments();
  void checkLoadSegments() const;
  void readDynamic();
  void locateStrings();
  void locateSymbols();
  void readVersions();
  void readBuildId();

  /// The string that the last entry with `tag` names, empty where there is none.
  std::string_view dynamicString(int64_t tag, const char* field) const;
  std::span<const std::byte> table(uint64_t vaddr, uint64_t size, const char* field) const;

  std::string name_;
  FileBytes file_;
  const Machine* machine_ = nullptr;
  std::vector<Segment> segments_;
  std::vector<DynamicEntry> dynamic_;
  std::span<const std::byte> stringTable_, symbolTable_, versionTable_;
  std::string_view soname_, rpath_, runpath_;
  std::span<const std::byte> buildId_;
  std::vector<VersionNeed> versionNeeds_;
  uint32_t symbolCount_ = 0;
};

}  // namespace multipy::elf
