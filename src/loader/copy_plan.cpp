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

using Libraries = std::set<const Library*>;

void collectPrivate(const Library& library, Libraries& all) {
  for (const auto& need : library.needs)
    if (need.library && need.library->isPrivate() && all.insert(need.library).second)
      collectPrivate(*need.library, all);
}

/// The private libraries that it needs, and those that they need. It is one itself where they need
/// it, too.
Libraries privateDependencies(const Library& library) {
  Libraries all;
  collectPrivate(library, all);
  return all;
}

/// C API names that this library gets from private dependencies (a binding generator's runtime
/// library, say), not from the interpreter.
Names namesFromDependencies(const Library& library, const Libraries& dependencies,
                            const InterpreterNames& interpreter) {
  Names used;
  for (const auto& name : library.facts->cApiNamesUsed) {
    const auto defines = [&](const Library* each) {
      return each->facts && each->facts->cApiNamesDefined.contains(name);
    };
    if (!interpreter.exports(privateCApiName(name)) && std::ranges::any_of(dependencies, defines))
      used.insert(name);
  }
  return used;
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
Names variablesOfDependencies(const Library& library, const Libraries& dependencies) {
  Names theirs, common;
  const Names& own = library.facts->inlineVariables;
  if (own.empty()) return common;
  for (const Library* each : dependencies) {
    // (Of two that need each other both would give up theirs.)
    if (each->facts && !privateDependencies(*each).contains(&library))
      theirs.insert(each->facts->inlineVariables.begin(), each->facts->inlineVariables.end());
  }
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
bool worksWithTorch(const Library& library, const Libraries& dependencies) {
  const auto itself = [](const Library* each) { return !each->facts || each->facts->usesTorch; };
  return itself(&library) || std::ranges::any_of(dependencies, itself);
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
  const Libraries dependencies = privateDependencies(library);
  for (const auto& name : variablesOfDependencies(library, dependencies))
    plan.edits.renameDefined.try_emplace(name, name);
  // libtorch is in the program's global scope, where ld.so looks first, and defines more
  // than torch's own names: the uv_spawn that uvloop calls has to be uvloop's.
  plan.edits.ownDefinitionsFirst = !worksWithTorch(library, dependencies);

  const InterpreterNames* interpreter = space.interpreter;
  Names kept = namesFromDependencies(library, dependencies, *interpreter);
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
