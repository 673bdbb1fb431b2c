// Section headers are for tools; nothing that runs a library reads them. In an
// edited copy they still say the truth about what has moved, so that readelf,
// gdb and perf see what ld.so sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace multipy::elf {

/// A table that stood at `oldVaddr` and now is elsewhere.
struct MovedTable {
  uint64_t oldVaddr;
  uint64_t vaddr;
  uint64_t fileOffset;
  uint64_t size;
};

/// A chain of Verneed records some of which were dropped. The others are in
/// place, so the section only shrinks from the front.
struct ShortenedVersionNeeds {
  uint64_t oldVaddr;
  uint64_t vaddr;
  uint32_t count;
};

struct SectionChanges {
  MovedTable dynamic;
  MovedTable strings;
  std::optional<ShortenedVersionNeeds> versionNeeds;
};

/// The section headers of `file`; empty where there are none, or damaged ones.
std::span<const std::byte> sectionHeaderTable(std::span<const std::byte> file);

/// Changes the section headers of `file` where there are some. Headers that are
/// damaged say no truth before or after, and stay as they are.
void updateSectionHeaders(std::span<std::byte> file, const SectionChanges& changes);

}  // namespace multipy::elf
