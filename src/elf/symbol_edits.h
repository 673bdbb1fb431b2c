// What the edits do to .dynsym and .gnu.version: entries change, none is added,
// removed or moved.
#pragma once

#include <elf.h>

#include <cstdint>
#include <vector>

#include "elf/dynamic_strings.h"
#include "elf/edited_copy.h"

namespace multipy::elf {

struct SymbolEdit {
  uint32_t index;
  Elf64_Sym entry;   // what stands there now
  bool dropVersion;  // .gnu.version of this symbol becomes VER_NDX_GLOBAL
};

/// Decides on every symbol, adds new names to `strings` and counts in `report`.
/// `droppedVersions` are the version indices whose Verneed record goes away.
std::vector<SymbolEdit> planSymbolEdits(const SharedObject& original, const Edits& edits,
                                        const std::vector<uint16_t>& droppedVersions,
                                        DynamicStrings& strings, EditReport& report);

}  // namespace multipy::elf
