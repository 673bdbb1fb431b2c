// Keeps a directory of copies within its limits (cache_limits.h).
//
// An entry goes when it was last used longer ago than the age; beyond the size, those go that
// were used longest ago. So do the entries of former versions, of libraries and of our own,
// which are never found again. What a running program has in use stays in any case
// (copies_in_use.h), also where that alone is more than the size: no program is made to write
// its copies again and again.
//
// Who does it: a program that opens the directory, if it was last done more than a day ago,
// and one that has written a copy, if it was more than an hour ago or this program has since
// written a sixteenth of the size. It is a walk over the entries without a thread of its own,
// and nothing else waits for it: of several programs one does it, the others go on, and
// one that is killed meanwhile leaves at most an entry in tmp/, which is removed with what
// killed writers have left.
//
// Threads: all functions from any thread and any number of processes at once. `cache` is a
// descriptor of the directory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>

#include "loader/cache_contents.h"

namespace multipy::loader {

/// Keeps within the limits now, unless another process is doing so, and returns what that has
/// removed; nothing if there is no such directory. Throws CacheError where the limits or the
/// directory cannot be read.
CacheContents trimCache(const std::filesystem::path& directory);

/// For a program that has better to do. Where the limits or the directory cannot be read,
/// nothing is removed, and where something cannot be removed, it stays: no library has
/// failed to load by that, and trimCache() tells.
class CacheTrimming {
 public:
  /// The directory has just been opened.
  void opened(int cache, const std::filesystem::path& directory) noexcept;
  /// So much has been written to it.
  void wrote(int cache, const std::filesystem::path& directory, std::uintmax_t bytes) noexcept;

 private:
  std::atomic<std::uintmax_t> written_ = 0;  // since this program has last trimmed
};

}  // namespace multipy::loader
