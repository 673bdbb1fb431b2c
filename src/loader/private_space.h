// One interpreter's private copies of shared libraries.
//
// A PrivateSpace loads libraries for one interpreter: it decides with the
// IsolationPolicy which are private, gets an edited copy of each private one
// (and of what it needs) from the CopyCache, and hands it to the system's own
// dlopen. What is shared is loaded as it is.
//
// Threads: every member may be called from any thread; loading is serialised
// per process by one lock (static initialisers run under it, as they do under
// glibc's own loader lock). No GIL is ever waited for here, so callers may hold
// their interpreter's GIL.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/interpreter_id.h"
#include "loader/copy_cache.h"
#include "loader/isolation_policy.h"
#include "loader/library_adapter.h"
#include "loader/loaded_library.h"

struct dl_phdr_info;

namespace multipy::loader {

class PrivateSpace {
 public:
  /// `slot` names the interpreter: it is part of every soname of this space
  /// (and so of its cache keys), since two live spaces may not share a slot.
  /// `adapter` may be null and must outlive the space.
  PrivateSpace(InterpreterId slot, std::shared_ptr<const IsolationPolicy> policy,
               std::shared_ptr<CopyCache> cache, LibraryAdapter* adapter);
  /// Forgets the libraries without unloading them; see unload().
  ~PrivateSpace();
  PrivateSpace(const PrivateSpace&) = delete;
  PrivateSpace& operator=(const PrivateSpace&) = delete;

  /// Loads this space's libinterpreter.so from the payload's bytes and makes it
  /// the first DT_NEEDED of every later copy. Once, before anything else. The
  /// names it exports that begin with "Pz" or "_Pz" are the C-API names that
  /// undefined "Py"/"_Py" symbols of private copies are renamed to.
  /// Returns dlopen's handle. Throws LoadError, CacheError, ElfError.
  void* loadInterpreter(std::span<const std::byte> payload);

  /// Loads an extension module or library by path and returns dlopen's handle;
  /// the same one for the same file (device and inode). Private dependencies
  /// that are not loaded yet are given to dlopen one by one, dependencies first,
  /// each announced to the adapter (libraries that need each other: all at once,
  /// announced as one). Throws LoadError, CacheError, ElfError, or what the
  /// adapter throws.
  void* load(const std::filesystem::path& library);

  /// A directory whose libraries belong to the environment, besides the policy's: of those
  /// that are loaded later. Throws what filesystem::absolute() throws.
  void addRoot(const std::filesystem::path& directory);
  /// A library that has not been loaded is private, whatever the policy says of it.
  void makePrivate(const std::filesystem::path& library);

  /// dlopen() as called by private code: `caller` is an address in the library
  /// that calls. A name without '/' is searched as ld.so would for that caller
  /// (its RPATH/RUNPATH, LD_LIBRARY_PATH, ld.so.cache, defaults); null means
  /// "this program", answered with the interpreter's handle. RTLD_GLOBAL makes a
  /// private library, and those it needs, known to private libraries that are opened
  /// later, and to no others. Throws LoadError with ld.so-like text; with
  /// RTLD_NOLOAD, null means that it is not loaded. The handle remains the
  /// space's, which closes it in unload(): dlclose() of private code has nothing
  /// to do.
  void* open(const char* name, int flags, const void* caller);

  /// dlsym() as called by private code. For RTLD_DEFAULT and the handle of
  /// "this program" (and RTLD_NEXT), looks into this interpreter (C-API names
  /// translated; never into another CPython), then into the caller and the
  /// private libraries that it needs, then into the program. Null if not found.
  void* symbol(void* handle, const char* name, const void* caller);

  /// The original of one of this space's copies, or null: so that dladdr()
  /// called by private code names the file it knows.
  const char* originalOf(const char* copy) const;

  /// dl_iterate_phdr() as called by private code: without the copies of other spaces, and
  /// this one's by their originals' names. Code that looks for libraries to change something
  /// in them (threadpoolctl: the number of OpenBLAS's threads) finds its interpreter's.
  int eachObject(int (*use)(dl_phdr_info*, std::size_t, void*), void* data) const;

  /// Runs the destructors (DT_FINI_ARRAY) of all private libraries but libinterpreter.so,
  /// last opened first, while all of them are still mapped: dlclose(), which has none left
  /// to run then, would run one's and unmap it before it comes to the next.
  void runDestructors();

  /// dlcloses everything this space has opened, last first; what is shared for its name (torch's
  /// libraries, CUDA's) stays in the process. After this nothing but the destructor may be called.
  /// Returns the number of this space's copies that remain loaded (0 when all could be unloaded).
  std::size_t unload();

  InterpreterId slot() const noexcept;

  /// What has been loaded through this space so far, in order.
  std::vector<LoadedLibrary> loaded() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace multipy::loader
