// A small writer of shared objects: everything a library must have and a bit
// more, in plain structures, so that a test can make one field wrong and leave
// the rest right.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace multipy::elf::testing {

struct MinimalLibrary {
  MinimalLibrary();

  // Where each table lies: the address is the offset in the file, one PT_LOAD
  // maps it all.
  enum Place : uint64_t {
    segmentsAt = 0x40,
    notesAt = 0x200,
    gnuHashAt = 0x240,
    sysvHashAt = 0x2c0,
    symbolsAt = 0x300,
    versionsAt = 0x400,
    versionNeedsAt = 0x440,
    stringsAt = 0x500,
    relocationsAt = 0x600,
    dynamicAt = 0x700,
    fileSize = 0x900,
  };
  enum SegmentIndex { load, dynamicSegment, note };

  /// A Verneed record and the one Vernaux record behind it.
  struct VersionNeedRecord {
    Elf64_Verneed need;
    Elf64_Vernaux version;
  };

  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Dyn> dynamic;  // DT_NULL included
  std::vector<Elf64_Sym> symbols;  // null, an undefined and a defined one
  std::vector<Elf64_Half> versions;
  std::vector<VersionNeedRecord> versionNeeds;
  std::vector<uint32_t> gnuHash, sysvHash;
  std::vector<Elf64_Rela> relocations;
  std::string strings;
  std::string notes;
  std::size_t truncatedTo = fileSize;

  /// Offset of `text` in the strings, added if it is not there.
  uint32_t string(const std::string& text);
  /// The entry with this tag. Its value is free to be changed.
  Elf64_Dyn& entry(int64_t tag);
  void remove(int64_t tag);

  std::vector<std::byte> bytes() const;
};

}  // namespace multipy::elf::testing
