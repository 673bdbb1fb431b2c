// Makes the copies of one space and gives them to dlopen.
//
// Loading a library has three stages:
//   1. resolve   the library and all it needs: found, read, decided (LibraryGraph)
//   2. prepare   what is private and not there yet: the adapter's renames for
//                all of it before anything is written, then the copies
//   3. open      dlopen for each copy, dependencies first, announced to the adapter
// 1 and 2 may throw and leave nothing behind but copies in the cache. When 3
// throws, the dependencies opened so far stay for the next try, and so does what it was opening
// itself, mapped but not known to be there. Between 2 and 3
// files of the cache may go (`multipy cache clear`, rm) or be damaged; then these
// are prepared and opened once more, and the caller does not get to know.
//
// Threads: guarded by the loading lock (loading_process.h), except history() and
// globalSymbol().
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/append_only_list.h"
#include "base/interpreter_id.h"
#include "loader/copy_cache.h"
#include "loader/copy_names.h"
#include "loader/copy_plan.h"
#include "loader/library_adapter.h"
#include "loader/library_graph.h"
#include "loader/loaded_library.h"
#include "loader/loading_process.h"

namespace multipy::loader {

class LibraryLoader {
 public:
  LibraryLoader(InterpreterId slot, std::shared_ptr<CopyCache> cache, LibraryAdapter* adapter,
                CopyNames& copyNames);
  /// Gives the slot back; what is still mapped is left alone.
  ~LibraryLoader();
  LibraryLoader(const LibraryLoader&) = delete;
  LibraryLoader& operator=(const LibraryLoader&) = delete;

  void* openInterpreter(std::span<const std::byte> payload);

  /// Stages 2 and 3 for a library of `graph`. The handle is this object's.
  void* open(LibraryGraph& graph, Library& library, int flags);

  /// What a library that was opened with RTLD_GLOBAL defines under `name`, or null.
  void* globalSymbol(const char* name) const;

  void runDestructors();
  /// dlcloses everything but what is shared for its name, last opened first. The number of copies
  /// that remain loaded.
  std::size_t closeAll();

  std::vector<LoadedLibrary> history() const;
  [[noreturn]] void fail(const std::filesystem::path& library, const std::string& dlError) const;

 private:
  using Group = std::vector<Library*>;  // see LibraryGraph::loadOrder

  void prepare(const std::vector<Group>& groups);
  void makeCopy(Library& library, const LibraryAdapter::Renames& renames,
                const std::vector<std::string>& members);
  void makeGlobal(const Library& library);
  std::vector<std::string> globalsFor(const Library& library) const;
  void openInherited(const Library& library, std::set<const Library*>& seen);
  void* openShared(Library& library, int flags);
  void* openFile(Library& library, int flags);
  void openSharedNeeds(const Library& library);
  void openGroup(const Group& group, int flags);
  void openPrepared(const Group& group, int flags);
  void openAnnounced(Library& leader, int flags);
  void recordOpened(const Group& group, int flags);
  void setPresent(const Group& group, bool present);
  void reportMapped(const std::set<std::string, std::less<>>& copies);
  void remember(const Library& library, std::size_t pagesShared = 0);
  void rememberNeeded(Library& library);
  std::size_t countMapped() const noexcept;

  const InterpreterId slot_;
  const std::shared_ptr<CopyCache> cache_;
  LibraryAdapter* const adapter_;
  CopyNames& copyNames_;
  LoadingProcess& process_ = LoadingProcess::instance();
  SpaceNames names_;
  std::shared_ptr<const Payload> payload_;
  std::vector<void*> handles_;                       // to close, in the order they were opened
  std::vector<void*> privateHandles_;                // those of copies
  std::vector<std::shared_ptr<CachedCopy>> copies_;  // that have been mapped
  /// A private library that was opened with RTLD_GLOBAL, or that such a one needs.
  struct Global {
    std::string soname;  // the copy's
    void* handle;
    std::set<std::string, std::less<>> defines;
  };
  base::AppendOnlyList<Global> globals_;
  base::AppendOnlyList<LoadedLibrary> history_;
};

}  // namespace multipy::loader
