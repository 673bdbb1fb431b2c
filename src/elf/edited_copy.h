// Writing an edited copy of a shared object.
//
// To glibc, a copy with another soname is simply another library: it gets its
// own data, its own TLS, its own static initialisers. We never relocate and
// never grow .dynsym or its hash and version tables: everything new goes into
// one page-aligned blob (program headers, .dynamic, .dynstr) behind the file's
// last byte, mapped by one PT_LOAD after the last one. See edited_copy.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elf/shared_object.h"

namespace multipy::elf {

/// What a copy differs in from its original. One thing it always differs in: STB_GNU_UNIQUE
/// definitions become weak ones. glibc would join them across copies, and would never unload the
/// copy that came first, nor what it needs. (Renamed to other names they would be each
/// interpreter's own as well, but still never unloaded.) As weak ones they are found in the scope
/// of each library, as all its other symbols are.
struct Edits {
  std::string soname{};                         // new DT_SONAME; empty: as it was
  std::vector<std::string> neededFirst{};       // DT_NEEDED put before all others
  std::map<std::string, std::string> needed{};  // DT_NEEDED (and verneed file) old → new
  std::set<std::string> neededDropped{};        // DT_NEEDED (and its verneed) removed
  /// What $ORIGIN becomes in RPATH, RUNPATH and NEEDED; empty: it stays.
  std::string origin{};
  /// Asked for each *undefined* symbol name; a non-empty answer is its new
  /// name. The symbol loses its version requirement, since it is another library's now.
  std::function<std::string(std::string_view)> renameUndefined{};
  /// *Defined* symbols that the library itself refers to by name and shall find elsewhere:
  /// old → new, which may be the same. The definition is no longer found by name.
  std::map<std::string, std::string> renameDefined{};
  /// DT_SYMBOLIC: what the copy defines itself, it finds itself, and not what the
  /// program or one of its libraries defines under that name.
  bool ownDefinitionsFirst = false;
};

struct EditReport {
  std::vector<std::string> renamed;  // old names of the symbols renamed, sorted, each once
  uint32_t uniqueWeakened = 0;
};

struct EditedCopy {
  std::vector<std::byte> bytes;
  EditReport report;
};

/// The edited copy of `original`, as the bytes of a file. A copy may be edited
/// again. Throws ElfError if the original does not allow it, InvalidArgument if
/// the edits cannot be right.
///
/// Threads: may be called at once from many, also with one original.
EditedCopy edit(const SharedObject& original, const Edits& edits);

struct FileRange {
  uint64_t begin = 0, end = 0;  // offsets; `end` is the first one behind it
  bool operator==(const FileRange&) const = default;
};

/// Where a copy may differ from `original`, whatever the edits, by ascending offset.
/// All else up to the original's end is in every copy at the same offset.
std::vector<FileRange> rangesEditedInPlace(const SharedObject& original);

}  // namespace multipy::elf
