#include "loader/cache_contents.h"

#include <fcntl.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/file_descriptor.h"
#include "loader/cache_entries.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

template <typename Work>
CacheContents withEach(const std::filesystem::path& directory, const char* doing, Work&& work) {
  CacheContents contents;
  const base::FileDescriptor cache(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!cache && errno == ENOENT) return contents;
  try {
    if (!cache) throw std::system_error(errno, std::system_category(), "open it");
    for (const CacheEntry& entry : listEntries(cache.get())) {
      ++contents.copies;
      contents.bytes += entry.bytes;
      work(cache.get(), entry.digest);
    }
  } catch (const std::system_error& error) {
    throw runtime::CacheError(std::string("cannot ") + doing + " the cache of copies " +
                              directory.string() + ": " + error.what() +
                              "; expected a directory of this user's with all rights");
  }
  return contents;
}

}  // namespace

CacheContents cacheContents(const std::filesystem::path& directory) {
  return withEach(directory, "read", [](int, const std::string&) {});
}

CacheContents clearCache(const std::filesystem::path& directory) {
  return withEach(directory, "clear",
                  [](int cache, const std::string& digest) { throwAway(cache, digest); });
}

}  // namespace multipy::loader
