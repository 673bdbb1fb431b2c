// What lies in a directory of copies (cache_entries.h has its layout), for people who
// want to know or to have it gone.
//
// Threads: from any thread, beside any number of programs that use the directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace multipy::loader {

struct CacheContents {
  std::size_t copies = 0;
  std::uintmax_t bytes = 0;
};

/// Nothing if there is no such directory. Throws CacheError if it cannot be read.
CacheContents cacheContents(const std::filesystem::path& directory);

/// Removes all copies, and says what that was. Programs that run keep the copies that
/// they have loaded, and make those anew that they come to need.
/// Throws CacheError if something cannot be removed.
CacheContents clearCache(const std::filesystem::path& directory);

}  // namespace multipy::loader
