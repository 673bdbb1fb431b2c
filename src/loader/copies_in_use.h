// Which copies of a directory programs may still load, so that no other one throws them away
// to keep within the limits (cache_limits.h).
//
// A program that has taken a copy may take it again: for the next interpreter in that slot, or
// for a library that was unloaded. So it locks one byte of the file `in-use`, at a place that
// the entry's name gives, for as long as it has the cache open, and only an entry whose byte
// is free is thrown away. The locks are those of an open file description (F_OFD_SETLK): any
// number of programs share one, a child of fork() keeps its parent's, and the kernel drops
// them when the last process that has them ends, however it ends. They take one file
// descriptor for a program and nothing to clean up after a crash.
//
// They spare a program from making its copies twice; no program relies on them. Where they
// cannot be had (a file system without them, no descriptor left), and against `multipy cache
// clear` or `rm -r`, what keeps it going is that a copy which has gone is made anew:
// CopyCache::get() and LibraryLoader::openGroup().
//
// Nothing waits here: a lock that is not to be had at once is done without.
#pragma once

#include <string>

#include "base/file_descriptor.h"

namespace multipy::loader {

/// The locks of one program, until this object goes. Not for several threads at once.
class CopiesInUse {
 public:
  /// Marks the entry `digest` in the directory that is open as `cache`; also when the
  /// directory is another one than last time, since the former was removed.
  void add(int cache, const std::string& digest);

 private:
  base::FileDescriptor file_;
};

/// For one that throws entries away. Not for several threads at once.
class CopiesOfOthers {
 public:
  /// Throws std::system_error where the locks cannot be opened.
  explicit CopiesOfOthers(int cache);
  /// True if no program has the entry in use; it is then locked until release(), so that
  /// none can begin to.
  bool lock(const std::string& digest);
  void release(const std::string& digest);

 private:
  base::FileDescriptor file_;
};

}  // namespace multipy::loader
