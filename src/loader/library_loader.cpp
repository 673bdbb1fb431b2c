#include "loader/library_loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/interpreter_id.h"
#include "base/keep_forever.h"
#include "loader/copy_destructors.h"
#include "loader/ld_so_lock.h"
#include "loader/load_errors.h"
#include "loader/loaded_objects.h"
#include "loader/shared_pages.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

constexpr const char* kInterpreterFile = "libinterpreter.so";

/// CPython's own flags for extension modules, and so those under which every
/// library of an environment has been seen to load. A library that lacks a
/// symbol is an error when it is loaded, not when it is used.
constexpr int kDependencyFlags = RTLD_NOW | RTLD_LOCAL;

/// What code asks for the whole process does not reach beyond its interpreter.
/// RTLD_GLOBAL: see makeGlobal().
constexpr int kNotForPrivate = RTLD_GLOBAL | RTLD_NODELETE;

/// Copies that go time and again between being made and being opened are no accident.
constexpr int kAttempts = 3;

/// Names that `library` defines for others, or those that it needs from others.
std::set<std::string, std::less<>> symbolsOf(const Library& library, bool defined) {
  const auto contents =
      library.object ? library.object : LibraryCatalogue::contents(library.file, library.identity);
  std::set<std::string, std::less<>> names;
  for (uint32_t index = 1; index < contents->symbolCount(); ++index) {
    const elf::Symbol symbol = contents->symbol(index);
    if (symbol.defined == defined && symbol.binding != STB_LOCAL) names.emplace(symbol.name);
  }
  return names;
}

/// For so many more, which are then added without asking for memory.
template <class Element>
void makeRoom(std::vector<Element>& elements, std::size_t more) {
  if (elements.capacity() - elements.size() >= more) return;
  elements.reserve(std::max(2 * elements.size(), elements.size() + more));
}

}  // namespace

LibraryLoader::LibraryLoader(InterpreterId slot, std::shared_ptr<CopyCache> cache,
                             LibraryAdapter* adapter, CopyNames& copyNames)
    : slot_(slot), cache_(std::move(cache)), adapter_(adapter), copyNames_(copyNames) {
  names_.label = process_.occupy(slot);
  try {
    names_.interpreterSoname = std::string(kInterpreterFile) + ".multipy" + names_.label;
  } catch (...) {
    process_.vacate(slot, {});
    throw;
  }
}

LibraryLoader::~LibraryLoader() { process_.vacate(slot_, std::move(copies_)); }

void LibraryLoader::fail(const std::filesystem::path& library, const std::string& dlError) const {
  throw runtime::LoadError(loadErrorText(library, dlError, copyNames_.forErrors()));
}

// --- stage 2: prepare

void LibraryLoader::makeCopy(Library& library, const LibraryAdapter::Renames& renames,
                             const std::vector<std::string>& members) {
  const CopyPlan plan = planCopy(library, names_, renames, members);
  library.copy = cache_->get(plan.key, library.file.filename(), [&] {
    const auto contents = library.object
                              ? library.object
                              : LibraryCatalogue::contents(library.file, library.identity);
    return elf::edit(*contents, plan.edits).bytes;
  });
}

void LibraryLoader::prepare(const std::vector<Group>& groups) {
  std::map<const Library*, LibraryAdapter::Renames> renames;
  for (const Group& group : groups) {
    for (Library* library : group) {
      if (adapter_) renames[library] = process_.renames(*adapter_, *library);
      library->copySoname = copySoname(*library, names_);
    }
  }
  for (const Group& group : groups) {
    // The members of a cycle find each other by soname once all are mapped. To
    // get them mapped, their leader needs all others by path, before anything else.
    std::vector<std::string> members;
    for (Library* library : group) {
      const bool leads = library == group.back();
      auto first = globalsFor(*library);
      if (leads) first.insert(first.end(), members.begin(), members.end());
      makeCopy(*library, renames[library], first);
      members.push_back(library->copy->path());
    }
  }
}

// --- RTLD_GLOBAL
//
// ld.so has one global scope, which all interpreters would share. So a library that was
// opened with this flag becomes a DT_NEEDED of those opened later that miss one of its
// symbols: it is found before what they need themselves, as it would be there.

void LibraryLoader::makeGlobal(const Library& library) {
  if (!library.handle) return;
  for (const Global& each : globals_)
    if (each.handle == library.handle) return;
  globals_.add({library.copySoname, library.handle, symbolsOf(library, true)});
  for (const auto& need : library.needs) {
    if (need.library && need.library->isPrivate()) makeGlobal(*need.library);
  }
}

/// Sonames of the copies that `library` finds symbols in though it does not need them.
std::vector<std::string> LibraryLoader::globalsFor(const Library& library) const {
  std::vector<std::string> sonames;
  if (globals_.begin() == globals_.end()) return sonames;
  const auto missing = symbolsOf(library, false);
  for (const Global& global : globals_) {
    const bool helps = std::any_of(missing.begin(), missing.end(), [&](const std::string& name) {
      return global.defines.contains(name);
    });
    if (helps) sonames.push_back(global.soname);
  }
  return sonames;
}

void* LibraryLoader::globalSymbol(const char* name) const {
  for (const Global& global : globals_) {
    if (global.defines.contains(name)) return ::dlsym(global.handle, name);
  }
  return nullptr;
}

// --- stage 3: open

void LibraryLoader::remember(const Library& library, std::size_t pagesShared) {
  history_.add({library.file, library.copy ? library.copy->path() : library.file, library.isolation,
                library.reason, pagesShared});
}

void LibraryLoader::rememberNeeded(Library& library) {
  std::vector<const Library*> shared;
  LibraryGraph::markSharedPresent(library, shared);
  for (const Library* needed : shared) remember(*needed);
}

/// That they are not takes no memory to say.
void LibraryLoader::setPresent(const Group& group, bool present) {
  for (Library* library : group) {
    library->present = present;
    const std::string& path = library->copy->path().native();
    if (present) {
      copyNames_.add(path, library->copySoname, library->file);
    } else {
      copyNames_.remove(path, library->copySoname);
    }
  }
}

void LibraryLoader::reportMapped(const std::set<std::string, std::less<>>& copies) {
  if (!adapter_) return;
  for (const auto& [path, range] : memoryRanges(copies)) {
    adapter_->mapped(slot_, range.first, range.second);
  }
}

void LibraryLoader::openAnnounced(Library& leader, int flags) {
  if (adapter_) adapter_->beforeLoad(slot_, leader.file);
  try {
    leader.handle = openObject(leader.copy->path().c_str(), flags);
  } catch (...) {
    if (adapter_) adapter_->afterLoad(slot_, leader.file, nullptr);
    throw;
  }
  if (leader.handle) return;
  if (adapter_) adapter_->afterLoad(slot_, leader.file, nullptr);  // calls no function of dlfcn.h
  fail(leader.file, takeDlError());
}

namespace {

/// Each of them is looked at, so that all that are damaged are made anew.
bool discardDamaged(const std::vector<Library*>& group) {
  bool damaged = false;
  for (const Library* library : group) damaged |= library->copy->discardIfDamaged();
  return damaged;
}

}  // namespace

void LibraryLoader::openGroup(const Group& group, int flags) {
  // The stamps once more, just before: ld.so would run into a file that was cut short.
  const bool changed = std::any_of(group.begin(), group.end(), [](const Library* library) {
    return !library->copy->isUnchanged();
  });
  if (changed) prepare({group});
  for (int attempt = 1;; ++attempt) {
    try {
      return openPrepared(group, flags);
    } catch (const runtime::LoadError&) {
      if (attempt == kAttempts || !discardDamaged(group)) throw;
    }
    prepare({group});
  }
}

void LibraryLoader::openPrepared(const Group& group, int flags) {
  // Before there is a handle, which could be lost.
  makeRoom(handles_, group.size());
  makeRoom(privateHandles_, group.size());
  makeRoom(copies_, group.size());
  try {
    setPresent(group, true);  // before dlopen: static initialisers may ask where they are
    openAnnounced(*group.back(), flags);
  } catch (const runtime::LoadError&) {
    setPresent(group, false);
    throw;
  } catch (...) {  // by an initialiser, perhaps: they are mapped then, by these names
    for (const Library* library : group) base::keepForever(library->copy);
    setPresent(group, false);
    throw;
  }
  bool told = false;
  try {
    recordOpened(group, flags);
    told = true;
    if (adapter_) adapter_->afterLoad(slot_, group.back()->file, group.back()->handle);
  } catch (...) {
    if (adapter_ && !told) adapter_->afterLoad(slot_, group.back()->file, nullptr);
    // What its initialisers have done cannot be undone: it stays mapped, and the next try opens
    // it once more, which does the rest.
    for (Library* library : group) library->handle = nullptr;
    setPresent(group, false);
    throw;
  }
}

void LibraryLoader::recordOpened(const Group& group, int flags) {
  for (Library* library : group) {
    // The others of a cycle have been mapped with the leader: this only takes a handle.
    if (!library->handle) library->handle = openObject(library->copy->path().c_str(), flags);
    copies_.push_back(library->copy);
    if (!library->handle) continue;
    CopyDestructors::add(slot_, library->handle);
    handles_.push_back(library->handle);
    privateHandles_.push_back(library->handle);
  }
  std::set<std::string, std::less<>> paths;
  for (Library* library : group) {
    paths.insert(library->copy->path());
    rememberNeeded(*library);
    remember(*library, sharePages(library->copy->path(), library->facts->sharable, library->file,
                                  library->identity));
  }
  reportMapped(paths);
}

/// What a shared library needs and finds by its users' DT_RPATH, ld.so does not find for it alone:
/// that is opened before it.
void LibraryLoader::openInherited(const Library& library, std::set<const Library*>& seen) {
  for (const auto& need : library.needs) {
    if (!need.library || need.library->isPrivate() || need.library->present) continue;
    if (!seen.insert(need.library).second) continue;  // they need each other
    openInherited(*need.library, seen);
    if (need.inherited && fileLoadedAs(need.name).empty())
      openFile(*need.library, kDependencyFlags);
  }
}

void* LibraryLoader::openShared(Library& library, int flags) {
  std::set<const Library*> seen;
  openInherited(library, seen);
  return openFile(library, flags);
}

void* LibraryLoader::openFile(Library& library, int flags) {
  makeRoom(handles_, 1);
  void* handle = openObject(library.file.c_str(), flags);
  if (!handle) fail(library.file, takeDlError());
  if (library.handle) {
    ::dlclose(handle);  // opened again for its flags (RTLD_GLOBAL may be new); one count is enough
    return library.handle;
  }
  library.handle = handle;
  // What is shared for its name alone is the process's from then on, as in plain Python, whose
  // ctypes closes nothing. Some of CUDA's libraries have a C++ runtime of their own in them, which
  // takes 72 KB when it is loaded and frees none of it when it is unloaded; `import torch` opens
  // them anew in each interpreter. Others may lie at a path of their own each time.
  if (!library.stays) handles_.push_back(handle);
  rememberNeeded(library);
  if (!library.present) remember(library);
  library.present = true;
  return handle;
}

/// Shared libraries come before the private ones that need them, by a dlopen of
/// their own. As mere dependencies they would be bound in the scope of the copy
/// that brought them, to its vtables, type information and inline functions:
/// what all interpreters share would run one interpreter's code, and that
/// interpreter could not be unloaded.
void LibraryLoader::openSharedNeeds(const Library& library) {
  for (const auto& need : library.needs) {
    if (!need.library || need.library->isPrivate() || need.library->present) continue;
    // The process may have another file under that name, which ld.so will take.
    if (fileLoadedAs(need.name).empty()) openShared(*need.library, kDependencyFlags);
  }
}

void* LibraryLoader::open(LibraryGraph& graph, Library& library, int flags) {
  if (!library.isPrivate()) return openShared(library, flags);
  const bool global = flags & RTLD_GLOBAL;
  flags &= ~kNotForPrivate;
  const std::vector<Group> groups = graph.loadOrder(library);
  prepare(groups);
  for (const Group& group : groups) {
    // A static initialiser of an earlier group may have loaded this one already.
    if (group.back()->present) continue;
    for (const Library* member : group) openSharedNeeds(*member);
    openGroup(group, group.back() == &library ? flags : kDependencyFlags);
  }
  if (!library.handle) {  // asked for by its own static initialiser: dlopen is not done yet
    makeRoom(handles_, 1);
    void* handle = openObject(library.copy->path().c_str(), flags);
    if (!handle) fail(library.file, takeDlError());
    handles_.push_back(handle);
    return handle;
  }
  if (global) makeGlobal(library);
  return library.handle;
}

void* LibraryLoader::openInterpreter(std::span<const std::byte> bytes) {
  payload_ = process_.payload(bytes);
  names_.interpreter = &payload_->names;
  const CopyPlan plan = planInterpreter(names_, payload_->digest);
  makeRoom(handles_, 1);
  makeRoom(copies_, 1);
  std::shared_ptr<CachedCopy> copy;
  void* handle = nullptr;
  for (int attempt = 1; !handle; ++attempt) {
    copy = cache_->get(plan.key, kInterpreterFile, [&] {
      return elf::edit(elf::SharedObject::view(bytes, kInterpreterFile), plan.edits).bytes;
    });
    copyNames_.add(copy->path(), names_.interpreterSoname, kInterpreterFile);
    handle = openObject(copy->path().c_str(), kDependencyFlags);
    if (handle) break;
    const std::string error = takeDlError();
    if (attempt == kAttempts || !copy->discardIfDamaged()) fail(kInterpreterFile, error);
    copyNames_.remove(copy->path(), names_.interpreterSoname);
  }
  handles_.push_back(handle);
  copies_.push_back(copy);
  reportMapped({copy->path()});
  // The payload lies in the program; as a file of its own it is what the copies share.
  const auto original =
      cache_->get("interpreter unedited " + payload_->digest, kInterpreterFile,
                  [&] { return std::vector<std::byte>(bytes.begin(), bytes.end()); });
  const std::size_t pagesShared =
      sharePages(copy->path(), payload_->sharable, original->path(), std::nullopt);
  history_.add(
      {kInterpreterFile, copy->path(), Isolation::Private, "is the interpreter", pagesShared});
  return handle;
}

// --- the end

/// How many of the copies are mapped. By ld.so's list: /proc/self/maps has another name for a
/// file that was moved since. It takes no memory.
std::size_t LibraryLoader::countMapped() const noexcept {
  struct Count {
    const std::vector<std::shared_ptr<CachedCopy>>& copies;
    std::size_t mapped = 0;
  } count{copies_};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto& count = *static_cast<Count*>(data);
        count.mapped += std::any_of(
            count.copies.begin(), count.copies.end(),
            [&](const auto& copy) { return copy->path().native() == object->dlpi_name; });
        return 0;
      },
      &count);
  return count.mapped;
}

void LibraryLoader::runDestructors() {
  for (; !privateHandles_.empty(); privateHandles_.pop_back()) {
    link_map* object = nullptr;
    if (::dlinfo(privateHandles_.back(), RTLD_DI_LINKMAP, &object) != 0) continue;
    const ElfW(Dyn)* const array = dynamicEntry(*object, DT_FINI_ARRAY);
    ElfW(Dyn)* const size = dynamicEntry(*object, DT_FINI_ARRAYSZ);
    if (!array || !size) continue;
    using Destructor = void (*)();
    const auto* destructors =
        reinterpret_cast<const Destructor*>(object->l_addr + array->d_un.d_ptr);
    std::size_t left = size->d_un.d_val / sizeof(Destructor);
    size->d_un.d_val = 0;
    while (left > 0) destructors[--left]();
  }
}

/// dlclose() takes some memory. Where it gets none it stops half-way, and ld.so (glibc 2.36's)
/// unloads no library in this process any more: so it is not begun then.
static bool hasMemoryToClose() noexcept {
  constexpr std::size_t kEnough = 64 << 10;
  for (int attempt = 0; attempt < 2; ++attempt) {
    void* volatile memory = std::malloc(kEnough);  // (or it would be left out)
    std::free(memory);
    if (memory) return true;
  }
  return false;
}

std::size_t LibraryLoader::closeAll() {
  while (!handles_.empty() && hasMemoryToClose()) {
    void* handle = handles_.back();
    handles_.pop_back();
    CopyDestructors::remove(handle);
    ::dlclose(handle);
  }
  const std::size_t remaining = countMapped();
  // What is left stays, under the names that ld.so knows; the destructor sees to it.
  if (remaining == 0) copies_.clear();
  if (adapter_) adapter_->unmapped(slot_);
  return remaining;
}

std::vector<LoadedLibrary> LibraryLoader::history() const {
  std::vector<LoadedLibrary> loaded;
  for (const LoadedLibrary& each : history_) loaded.push_back(each);
  return loaded;
}

}  // namespace multipy::loader
