#include "elf/library_names.h"

#include <elf.h>

#include <algorithm>
#include <cctype>

#include "elf/checked_bytes.h"

namespace multipy::elf {
namespace {

// Length of the "$ORIGIN" or "${ORIGIN}" that `text` starts with, else 0.
// "$ORIGINAL" is no such thing.
std::size_t originTokenLength(std::string_view text) {
  constexpr std::string_view bare = "$ORIGIN", braced = "${ORIGIN}";
  if (text.starts_with(braced)) return braced.size();
  if (!text.starts_with(bare)) return 0;
  if (text.size() == bare.size()) return bare.size();
  const auto next = static_cast<unsigned char>(text[bare.size()]);
  return std::isalnum(next) || next == '_' ? 0 : bare.size();
}

// A directory list with $ORIGIN replaced; `tag` is the name for errors.
std::string expandSearchPath(std::string_view path, const SharedObject& original,
                             const Edits& edits, const char* tag) {
  auto expanded = expandOrigin(path, edits.origin);
  if (expanded != path && edits.origin.find_first_of(":$") != std::string::npos)
    fail(original.name(), tag, '"' + std::string(path) + "\" in " + edits.origin,
         "a directory whose name has no ':' and no '$', since $ORIGIN is replaced by it: "
         "move the library to another directory");
  return expanded;
}

const char* searchPathTag(int64_t tag) {
  return tag == DT_RPATH ? "DT_RPATH" : tag == DT_RUNPATH ? "DT_RUNPATH" : nullptr;
}

}  // namespace

std::string expandOrigin(std::string_view path, std::string_view origin) {
  std::string expanded;
  for (std::size_t at = 0; at < path.size();) {
    const auto length = origin.empty() ? 0 : originTokenLength(path.substr(at));
    if (length != 0) {
      expanded += origin;
      at += length;
    } else {
      expanded += path[at++];
    }
  }
  return expanded;
}

std::optional<std::string> editedName(std::string_view name, const SharedObject& original,
                                      const Edits& edits) {
  const std::string old(name);
  if (edits.neededDropped.contains(old)) return std::nullopt;
  if (const auto found = edits.needed.find(old); found != edits.needed.end()) return found->second;
  // Old versions of patchelf leave libraries that need themselves by soname.
  // That only works as long as the soname is theirs.
  if (!name.empty() && name == original.soname() && !edits.soname.empty()) return edits.soname;
  return expandOrigin(name, edits.origin);
}

std::vector<DynamicEntry> editDynamic(const SharedObject& original, const Edits& edits,
                                      DynamicStrings& strings) {
  std::vector<DynamicEntry> result;
  for (const std::string& first : edits.neededFirst)
    result.push_back({DT_NEEDED, strings.add(first)});
  if (!edits.soname.empty()) result.push_back({DT_SONAME, strings.add(edits.soname)});

  const auto isFirst = [&](const std::string& name) {
    return std::find(edits.neededFirst.begin(), edits.neededFirst.end(), name) !=
           edits.neededFirst.end();
  };
  // A name that does not change keeps its string.
  const auto place = [&](std::string_view before, const std::string& after, uint64_t offset) {
    return before == after ? offset : strings.add(after);
  };
  for (const DynamicEntry& entry : original.dynamic()) {
    if (entry.tag == DT_SONAME && !edits.soname.empty()) continue;
    DynamicEntry edited = entry;
    if (entry.tag == DT_NEEDED) {
      const auto before = original.string(entry.value, "DT_NEEDED");
      const auto after = editedName(before, original, edits);
      if (!after || isFirst(*after)) continue;
      edited.value = place(before, *after, entry.value);
    } else if (const char* tag = searchPathTag(entry.tag)) {
      const auto before = original.string(entry.value, tag);
      edited.value = place(before, expandSearchPath(before, original, edits, tag), entry.value);
    }
    result.push_back(edited);
  }
  if (edits.ownDefinitionsFirst && !original.has(DT_SYMBOLIC)) result.push_back({DT_SYMBOLIC, 0});
  return result;
}

VersionNeedEdits editVersionNeeds(const SharedObject& original, const Edits& edits,
                                  DynamicStrings& strings) {
  VersionNeedEdits result;
  for (const VersionNeed& need : original.versionNeeds()) {
    const auto oldOffset =
        reinterpret_cast<const std::byte*>(need.file.data()) - original.stringTable().data();
    if (const auto name = editedName(need.file, original, edits))
      result.kept.push_back(
          {&need, *name == need.file ? static_cast<uint32_t>(oldOffset) : strings.add(*name)});
    else
      result.droppedVersions.insert(result.droppedVersions.end(), need.versionIndices.begin(),
                                    need.versionIndices.end());
  }
  return result;
}

}  // namespace multipy::elf
