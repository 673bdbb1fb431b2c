// What the loader has to know of a library file, read once per process.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "elf/edited_copy.h"
#include "elf/shared_object.h"

namespace multipy::loader {

/// One state of one file: a file that is written anew is another one.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  int64_t seconds = 0;  // of the last modification
  int64_t nanoseconds = 0;

  /// Throws LoadError if there is no such regular file.
  static FileIdentity of(const std::filesystem::path& file);
  /// That of an open file; like no other's if it has none.
  static FileIdentity ofOpen(int descriptor);
  std::string text() const;
  auto operator<=>(const FileIdentity&) const = default;
};

struct LibraryFacts {
  std::string soname;
  std::string rpath;
  std::string runpath;
  bool noDefaultLibraries = false;  // DF_1_NODEFLIB
  std::vector<std::string> needed;
  std::string buildId;  // hexadecimal
  /// IsolationPolicy::whyUsesCApi().
  std::string cApiUse;
  bool usesTorch = false;  // it needs one of torch's libraries or has undefined symbols of torch's
  std::set<std::string, std::less<>> cApiNamesUsed;
  /// Names in the style of the C API that it defines itself (PyInit_x, PySide_y).
  std::set<std::string, std::less<>> cApiNamesDefined;
  /// Variables that it defines and that other libraries may define as well, to be one with theirs
  /// (weak or STB_GNU_UNIQUE): inline ones, and static ones of inline functions and templates.
  std::set<std::string, std::less<>> inlineVariables;
  /// sharableRanges()
  std::vector<elf::FileRange> sharable;
};

/// A library's facts and, if it had to be read for them, its contents.
struct Inspected {
  FileIdentity identity;
  std::shared_ptr<const LibraryFacts> facts;
  std::shared_ptr<const elf::SharedObject> object;  // may be null
};

/// Remembers facts by file identity, so that N interpreters read a file once.
/// Threads: guarded by the loading lock (loading_process.h).
class LibraryCatalogue {
 public:
  /// Throws LoadError or ElfError.
  Inspected inspect(const std::filesystem::path& file);
  /// The contents of the very file that was inspected. Throws LoadError if it
  /// has been changed since.
  static std::shared_ptr<const elf::SharedObject> contents(const std::filesystem::path& file,
                                                           const FileIdentity& identity);

 private:
  std::map<FileIdentity, std::shared_ptr<const LibraryFacts>> facts_;
};

}  // namespace multipy::loader
