// Where edited copies live, so that this process's interpreters, its next run
// and other processes can use them again.
//
// A copy is found by its key: everything that its bytes depend on (original's
// path, device, inode, size, mtime, build id; editor version; slot; names of
// what it needs; renames). The folder is $XDG_CACHE_HOME/multipy or
// ~/.cache/multipy, mode 0700. See disk_copies.cpp for how concurrent writers,
// crashes in mid-write, a full disk and other users' tampering are survived, and
// cache_limits.h for how large it grows.
//
// Threads: all members from any thread; any number of processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace multipy::loader {

/// A file that dlopen can take: a file in the cache, or a memory file
/// (memfd_create) reached through /proc/self/fd, which lives as long as this
/// object. The one in the cache may be removed or damaged from outside of this
/// process (rm, a bad disk); then get() makes it anew.
class CachedCopy {
 public:
  virtual ~CachedCopy() = default;
  virtual const std::filesystem::path& path() const noexcept = 0;
  /// Whether it is still there as get() gave it, as far as size and times tell.
  virtual bool isUnchanged() const = 0;
  /// Reads it through. Where it is not what was made, or not there, it is thrown
  /// away if need be, and the answer is true: get() will make another.
  virtual bool discardIfDamaged() = 0;
};

class CopyCache {
 public:
  /// The cache in the user's cache directory. Where no directory can be made or
  /// written, or it is not ours alone, copies become memory files (and
  /// `whyInMemory()` says why).
  static std::shared_ptr<CopyCache> forUser();
  /// The cache in a given directory. Throws CacheError if it cannot be made or
  /// used, with the cause.
  static std::shared_ptr<CopyCache> in(const std::filesystem::path& directory);
  /// No directory at all: memory files only.
  static std::shared_ptr<CopyCache> inMemory();

  virtual ~CopyCache() = default;

  /// The copy for `key` under the file name `fileName`, made with `make` if it
  /// is not there yet or fails its check. What `make` throws passes through
  /// and leaves nothing behind. Where the directory turns out full or
  /// unwritable, a memory file is made instead; CacheError only if that fails too.
  virtual std::shared_ptr<CachedCopy> get(const std::string& key, const std::string& fileName,
                                          const std::function<std::vector<std::byte>()>& make) = 0;

  /// The directory, empty for memory files.
  virtual std::filesystem::path directory() const = 0;
  virtual std::string whyInMemory() const = 0;
};

}  // namespace multipy::loader
