// The version tables: which versions a library wants of which others
// (DT_VERNEED), which it defines (DT_VERDEF), and which of all these each symbol
// goes with (DT_VERSYM).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace multipy::elf {

class SharedObject;

/// One Elf64_Verneed record: "of `file` I want these versions".
struct VersionNeed {
  std::string_view file;                 // vn_file; names a DT_NEEDED, as a rule
  std::vector<uint16_t> versionIndices;  // vna_other, by which .gnu.version refers to them
  uint64_t vaddr = 0;                    // of the record
  uint64_t fileOffset = 0;               // of the record
};

/// Walks the chain of `object`, whose segments and dynamic section have been
/// read. Empty where there is none. Throws ElfError.
std::vector<VersionNeed> readVersionNeeds(const SharedObject& object);

/// Checks what ld.so trusts: the chain of definitions, and that the number in
/// `versionTable` of each symbol is one that a need or a definition has.
void checkVersions(const SharedObject& object, const std::vector<VersionNeed>& needs,
                   std::span<const std::byte> versionTable);

}  // namespace multipy::elf
