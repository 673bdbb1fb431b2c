// The entries of a directory of copies, for those that look at them or throw them away.
//
//   <cache>/                 0700, this user's; see trusted_directory.h
//     ab/<ab...digest>/      an entry, named by the digest of its key (disk_copies.cpp)
//     tmp/<unique>/          an entry being written, or one being thrown away
//     limits                 how much may be kept (cache_limits.h)
//     in-use                 locked by the programs that run, an entry a byte (copies_in_use.h)
//     trimmed                locked while the limits are kept to; modified when that was done
//
// An entry was last used at the modification time of its directory: the access times of
// files are not kept on many systems. A program that takes a copy renews it, at most once
// an hour.
//
// Threads: all functions from any thread and any number of processes at once. `cache` is a
// descriptor of the directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace multipy::loader {

inline constexpr const char* kTemporaryDirectory = "tmp";

struct CacheEntry {
  std::string digest;        // its name
  std::uintmax_t bytes = 0;  // of its files
  std::int64_t lastUse = 0;  // seconds since the epoch
};

/// All entries. What other processes remove meanwhile is left out. Throws std::system_error
/// where a directory cannot be read.
std::vector<CacheEntry> listEntries(int cache);

/// When the entry was last used; negative if there is no such entry.
std::int64_t lastUseOf(int cache, const std::string& digest);

/// Makes it now. That it cannot be written (a file system mounted read-only) is no error.
void setLastUse(int cache, const std::string& digest);
/// Makes it now for the entry that is open as `entry`, unless that was done within the hour.
void renewLastUse(int entry);

/// Removes an entry: by one rename out of its place, and then what is in it. Programs that
/// have its file mapped or open keep that. False if it is not there any more; throws
/// std::system_error where it cannot be moved.
bool throwAway(int cache, const std::string& digest);

/// A name that no other process or thread uses in this directory, on this machine or another.
std::string uniqueName();

/// Removes tmp/`name`, a directory of files or anything else that lies there. Takes one file
/// descriptor: what a writer leaves that ran out of them has to go, too.
void removeTemporary(int temporary, const std::string& name);

/// Removes from tmp/ what processes have left there that were killed.
void removeAbandoned(int cache);

}  // namespace multipy::loader
