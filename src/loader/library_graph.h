// The libraries of one private space and what they need.
//
// Before anything is loaded, the whole graph of a library's dependencies is
// found and decided upon: which of them are private follows from the policy and
// from who needs a user of the C API, all the way up. Cycles occur.
//
// Threads: guarded by the loading lock (loading_process.h).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "loader/copy_cache.h"
#include "loader/isolation_policy.h"
#include "loader/library_facts.h"
#include "loader/library_search.h"

namespace multipy::loader {

struct Library {
  struct Dependency {
    std::string name;            // DT_NEEDED
    Library* library = nullptr;  // null: found nowhere; ld.so shall say so, if it comes to that
    bool inherited = false;      // Found::inherited
  };

  std::filesystem::path file;  // absolute, as it was found; links are not followed,
                               // since $ORIGIN is the directory of the link
  FileIdentity identity;
  std::shared_ptr<const LibraryFacts> facts;        // null if the name alone decided
  std::shared_ptr<const elf::SharedObject> object;  // while it is being prepared
  Requester requester;
  std::vector<Dependency> needs;

  Isolation isolation = Isolation::Shared;
  std::string reason;
  bool stays = false;     // Verdict::stays
  bool usesCApi = false;  // itself or by what it needs

  // --- private libraries, once prepared
  std::shared_ptr<CachedCopy> copy;
  std::string copySoname;

  bool present = false;    // it is loaded, or being loaded
  void* handle = nullptr;  // dlopen's, once we have asked for one

  bool isPrivate() const noexcept { return isolation == Isolation::Private; }
};

class LibraryGraph {
 public:
  LibraryGraph(std::shared_ptr<const IsolationPolicy> policy, LibraryCatalogue& catalogue);

  /// What lies below it belongs to the environment: of libraries that are decided upon later.
  void addRoot(const std::filesystem::path& root);
  void makePrivate(const std::filesystem::path& library);

  /// The library in `file`, with all that it needs, decided upon. Throws
  /// LoadError or ElfError.
  Library& resolve(const std::filesystem::path& file, const Requester* loader);

  /// The library that `name` stands for when `requester` asks for it, undecided
  /// if it is new; null if there is none.
  Library* find(const std::string& name, const Requester& requester, bool* inherited = nullptr);

  /// The same among the libraries that have been loaded; looks up and adds nothing.
  const Library* findPresent(const std::string& name, const Requester& requester) const;

  /// Where find() would look for a library that `requester` needs, for people to read.
  std::vector<std::string> searched(const Requester& requester) const {
    return search_.places(requester);
  }

  /// The library whose copy has been loaded from this path, or null.
  const Library* libraryOfCopy(const std::string& copy) const;

  /// The private libraries that have to be loaded so that `root` can be:
  /// dependencies first; those that need each other, in one group, whose last
  /// member leads it.
  std::vector<std::vector<Library*>> loadOrder(Library& root) const;

  /// `root` has been loaded, and so ld.so has loaded the shared libraries that
  /// it needs. Adds those that were not marked yet to `marked`.
  static void markSharedPresent(Library& root, std::vector<const Library*>& marked);

  /// Forgets libraries that have not been loaded: by the next time, their files
  /// and those they need may have changed.
  void forgetAbsent() noexcept;

 private:
  Library& add(const std::filesystem::path& file, const Requester* loader);
  void findDependencies(Library& library);
  void decide();

  std::shared_ptr<const IsolationPolicy> policy_;
  LibraryCatalogue& catalogue_;
  LibrarySearch search_;
  std::vector<std::unique_ptr<Library>> libraries_;
  std::map<FileIdentity, Library*> byIdentity_;
  /// ld.so takes a library that is there for every later DT_NEEDED of its
  /// soname, or of a name under which it was needed before. So do we.
  std::map<std::string, Library*> byName_;
};

}  // namespace multipy::loader
