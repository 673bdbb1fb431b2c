// What the edits do to the names of other libraries, which stand in two places:
// DT_NEEDED and DT_VERNEED. ld.so aborts the process if a Verneed record names a
// library that is not loaded under that name, so both must change alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/dynamic_strings.h"
#include "elf/edited_copy.h"

namespace multipy::elf {

/// The name that takes the place of `name`, or nothing if it is dropped.
std::optional<std::string> editedName(std::string_view name, const SharedObject& original,
                                      const Edits& edits);

/// The dynamic section of the copy, without DT_NULL. DT_STRTAB and DT_STRSZ have
/// their old values: the table's place is not known yet.
std::vector<DynamicEntry> editDynamic(const SharedObject& original, const Edits& edits,
                                      DynamicStrings& strings);

/// A Verneed record that stays, with the offset of its new file name.
struct KeptVersionNeed {
  const VersionNeed* need;
  uint32_t file;
};
struct VersionNeedEdits {
  std::vector<KeptVersionNeed> kept;      // in the order of the chain
  std::vector<uint16_t> droppedVersions;  // indices that only dropped records define
};
VersionNeedEdits editVersionNeeds(const SharedObject& original, const Edits& edits,
                                  DynamicStrings& strings);

/// `path` with each $ORIGIN or ${ORIGIN} replaced, as ld.so would.
std::string expandOrigin(std::string_view path, std::string_view origin);

}  // namespace multipy::elf
