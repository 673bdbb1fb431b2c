// Where ld.so would find a library by name.
//
// ld.so does the loading, but whether a library is private has to be known
// before it does. So this follows its rules (ld.so(8), glibc's elf/dl-load.c),
// for one requesting library:
//   1. DT_RPATH of the requester, of the object that loaded it, and so on up, then of
//      the program; only if the requester has no DT_RUNPATH
//   2. LD_LIBRARY_PATH as it was when the search was made
//   3. DT_RUNPATH of the requester
//   4. /etc/ld.so.cache
//   5. the system's directories
// with $ORIGIN, $LIB and $PLATFORM expanded, the glibc-hwcaps subdirectories
// of this processor in front of each directory, and files for other machines
// passed over. Libraries that are loaded already, which come before all of
// this, are the caller's business.
//
// Threads: immutable once made; const members from any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loader/ld_so_cache.h"

namespace multipy::loader {

/// What the rules have to know of a library that asks for another one.
struct Requester {
  std::filesystem::path directory;    // $ORIGIN
  std::string rpath;                  // DT_RPATH, as written
  std::string runpath;                // DT_RUNPATH, as written
  bool noDefaultLibraries = false;    // DF_1_NODEFLIB
  const Requester* loader = nullptr;  // who loaded it; null for the program
};

struct Found {
  std::filesystem::path file;
  /// Found through the DT_RPATH of a loader of the requester: not to be found
  /// by ld.so when the requester is loaded by itself.
  bool inherited = false;
};

class LibrarySearch {
 public:
  /// Reads LD_LIBRARY_PATH, the program's DT_RPATH and ld.so.cache.
  LibrarySearch();
  /// For tests: everything given.
  LibrarySearch(std::string libraryPath, LdSoCache cache,
                std::vector<std::filesystem::path> systemDirectories);

  /// The file that `name` stands for when `requester` needs it.
  std::optional<Found> find(const std::string& name, const Requester& requester) const;

  /// Where find() looks for a name without a slash, in order, for people to read: the
  /// directories, and "ld.so.cache" in its place among them.
  std::vector<std::string> places(const Requester& requester) const;

  /// `text` with $ORIGIN (`directory`), $LIB and $PLATFORM expanded.
  static std::string expand(std::string_view text, const std::filesystem::path& directory);

 private:
  struct Listed {
    std::filesystem::path directory;  // absolute
    bool inherited = false;           // Found::inherited
  };
  /// The directories that come before ld.so.cache, in order.
  std::vector<Listed> listedDirectories(const Requester& requester) const;
  std::optional<std::filesystem::path> inDirectory(const std::filesystem::path& directory,
                                                   const std::string& name) const;

  Requester program_;
  std::string libraryPath_;
  LdSoCache cache_;
  std::vector<std::filesystem::path> systemDirectories_;
  std::vector<std::string> hardwareDirectories_;  // "glibc-hwcaps/x86-64-v3", best first
};

}  // namespace multipy::loader
