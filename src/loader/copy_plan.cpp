#include "loader/copy_plan.h"

#include <dlfcn.h>

#include <algorithm>
#include <set>

#include "base/blake2b.h"
#include "loader/c_api_names.h"
#include "loader/loaded_objects.h"

namespace multipy::loader {
namespace {

/// To be raised whenever elf::edit() writes other bytes for the same edits, or a
/// rename is decided upon that the key does not tell.
constexpr int kEditorVersion = 1;

using Names = std::set<std::string, std::less<>>;

/// Names like those of the C API that come from the library's own private
/// dependencies (a binding generator's runtime library, say).
void collectDefined(const Library& library, Names& names, std::set<const Library*>& seen) {
  for (const auto& dependency : library.needs) {
    const Library* next = dependency.library;
    if (!next || !next->isPrivate() || !next->facts || !seen.insert(next).second) continue;
    names.insert(next->facts->cApiNamesDefined.begin(), next->facts->cApiNamesDefined.end());
    collectDefined(*next, names, seen);
  }
}

/// C API names that this library gets from private dependencies, not from the interpreter.
Names namesFromDependencies(const Library& library, const InterpreterNames& interpreter) {
  Names defined, used;
  std::set<const Library*> seen;
  collectDefined(library, defined, seen);
  for (const auto& name : library.facts->cApiNamesUsed) {
    if (!interpreter.exports(privateCApiName(name)) && defined.contains(name)) used.insert(name);
  }
  return used;
}

bool needs(const Library& library, const Library& other, std::set<const Library*>& seen) {
  return std::any_of(library.needs.begin(), library.needs.end(), [&](const auto& need) {
    return need.library && seen.insert(need.library).second &&
           (need.library == &other || needs(*need.library, other, seen));
  });
}

void collectInlineVariables(const Library& library, const Library& root, Names& names,
                            std::set<const Library*>& seen) {
  for (const auto& dependency : library.needs) {
    const Library* next = dependency.library;
    if (!next || !next->isPrivate() || !next->facts || !seen.insert(next).second) continue;
    std::set<const Library*> seenNeeded;
    if (!needs(*next, root, seenNeeded))  // of two that need each other both would give up theirs
      names.insert(next->facts->inlineVariables.begin(), next->facts->inlineVariables.end());
    collectInlineVariables(*next, root, names, seen);
  }
}

/// Is it a static variable of a function that has no guard (_ZGV) for it among `others`, unlike
/// here?
bool isGuardedOnlyHere(const std::string& name, const Names& here, const Names& others) {
  const std::string guard = "_ZGV" + name.substr(std::min<std::size_t>(2, name.size()));
  return here.contains(guard) && !others.contains(guard);
}

/// Inline variables that a private library which it needs has as well. C++ wants them to be one:
/// for ld.so the one is that of the library which was opened, but here its dependencies are opened
/// before it and have bound their references already, so that it is theirs.
Names variablesOfDependencies(const Library& library) {
  Names theirs, common;
  std::set<const Library*> seen;
  collectInlineVariables(library, library, theirs, seen);
  const Names& own = library.facts->inlineVariables;
  for (const auto& name : own) {
    // (One that the program defines would be found before theirs.)
    if (theirs.contains(name) && !isGuardedOnlyHere(name, own, theirs) &&
        !::dlsym(RTLD_DEFAULT, name.c_str()))
      common.insert(name);
  }
  return common;
}

/// Is it a library of torch's, or an extension of torch? Such a one has definitions in
/// common with libtorch (inline functions' variables, type information), which must be one.
bool worksWithTorch(const Library& library, std::set<const Library*>& seen) {
  if (!library.facts || library.facts->usesTorch) return true;
  return std::any_of(library.needs.begin(), library.needs.end(), [&](const auto& need) {
    return need.library && need.library->isPrivate() && seen.insert(need.library).second &&
           worksWithTorch(*need.library, seen);
  });
}

/// DT_NEEDED of the copy: private dependencies by their copies' sonames (they
/// are loaded first, so ld.so need not look for them), shared ones as they were
/// unless ld.so would not find them from the copy alone.
void planNeeded(const Library& library, elf::Edits& edits) {
  for (const std::string& name : library.facts->needed) {
    if (isLibPython(name)) edits.neededDropped.insert(name);
  }
  for (const auto& dependency : library.needs) {
    if (!dependency.library) continue;
    if (dependency.library->isPrivate()) {
      edits.needed[dependency.name] = dependency.library->copySoname;
    } else if (dependency.inherited && fileLoadedAs(dependency.name).empty()) {
      edits.needed[dependency.name] = dependency.library->file;
    }
  }
}

class KeyText {
 public:
  KeyText& line(std::string_view name, std::string_view value) {
    text_.append(name).append(" ").append(value).append("\n");
    return *this;
  }
  template <typename Strings>
  KeyText& lines(std::string_view name, const Strings& values) {
    for (const auto& value : values) line(name, value);
    return *this;
  }
  KeyText& lines(std::string_view name, const std::map<std::string, std::string>& values) {
    for (const auto& [from, to] : values) line(name, from + " -> " + to);
    return *this;
  }
  KeyText& edits(const elf::Edits& edits) {
    line("editor", std::to_string(kEditorVersion));
    line("soname", edits.soname);
    lines("first needed", edits.neededFirst);
    lines("needed", edits.needed);
    lines("dropped", edits.neededDropped);
    line("origin", edits.origin);
    lines("defined", edits.renameDefined);
    return line("own definitions first", edits.ownDefinitionsFirst ? "yes" : "no");
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string copySoname(const Library& library, const SpaceNames& space) {
  // Wheels may bring different libraries of one name, and one path may have had
  // different contents: the digest keeps them apart.
  const std::string identity = library.file.string() + "\n" + library.identity.text();
  return library.file.filename().string() + ".multipy" + space.label + "-" +
         base::Blake2b::digest(identity).substr(0, 16);
}

CopyPlan planCopy(const Library& library, const SpaceNames& space,
                  const LibraryAdapter::Renames& renames, const std::vector<std::string>& members) {
  CopyPlan plan{elf::Edits{.soname = library.copySoname}, {}};
  plan.edits.origin = library.requester.directory;
  plan.edits.neededFirst = {space.interpreterSoname};
  plan.edits.neededFirst.insert(plan.edits.neededFirst.end(), members.begin(), members.end());
  planNeeded(library, plan.edits);
  plan.edits.renameDefined = renames.defined;
  for (const auto& name : variablesOfDependencies(library))
    plan.edits.renameDefined.try_emplace(name, name);
  // libtorch is in the program's global scope, where ld.so looks first, and defines more
  // than torch's own names: the uv_spawn that uvloop calls has to be uvloop's.
  std::set<const Library*> seen;
  plan.edits.ownDefinitionsFirst = !worksWithTorch(library, seen);

  const InterpreterNames* interpreter = space.interpreter;
  Names kept = namesFromDependencies(library, *interpreter);
  plan.key = KeyText()
                 .line("library", library.file.string())
                 .line("file", library.identity.text())
                 .line("build id", library.facts->buildId)
                 .edits(plan.edits)
                 .lines("undefined", renames.undefined)
                 .line("adapter", renames.version)
                 .lines("kept", kept)
                 .line("interpreter exports", interpreter->digest())
                 .take();
  plan.edits.renameUndefined = [undefined = renames.undefined,
                                kept = std::move(kept)](std::string_view name) -> std::string {
    if (auto found = undefined.find(std::string(name)); found != undefined.end()) {
      return found->second;
    }
    // Also those that the interpreter does not export: better not found at all
    // than found in a CPython of the host program.
    if (isCApiName(name) && !kept.contains(name)) return privateCApiName(name);
    return InterpreterNames::replacementOf(name);
  };
  return plan;
}

CopyPlan planInterpreter(const SpaceNames& space, const std::string& contents) {
  CopyPlan plan{elf::Edits{.soname = space.interpreterSoname}, {}};
  plan.key = KeyText().line("interpreter", contents).edits(plan.edits).take();
  return plan;
}

}  // namespace multipy::loader
