// What is changed in the private copy of a library, and under which key the copy
// is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elf/edited_copy.h"
#include "loader/interpreter_names.h"
#include "loader/library_adapter.h"
#include "loader/library_graph.h"

namespace multipy::loader {

/// What the copies of one space have in common.
struct SpaceNames {
  /// Part of each soname: "3", or "3.1" where copies that could not be unloaded
  /// are left from an earlier space in slot 3, which must not be met again.
  std::string label;
  std::string interpreterSoname;
  const InterpreterNames* interpreter = nullptr;
};

struct CopyPlan {
  elf::Edits edits;
  std::string key;
};

/// The soname of the copy: unlike that of any other library in this process.
std::string copySoname(const Library& library, const SpaceNames& space);

/// `members`: paths of copies that must be mapped together with this one, since
/// they need it and it needs them; empty for all but the leader of such a group.
/// The sonames of what it needs must have been given already.
CopyPlan planCopy(const Library& library, const SpaceNames& space,
                  const LibraryAdapter::Renames& renames, const std::vector<std::string>& members);

/// The plan for libinterpreter.so itself. `contents`: digest of the payload.
CopyPlan planInterpreter(const SpaceNames& space, const std::string& contents);

}  // namespace multipy::loader
