#include "loader/cache_contents.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

namespace fs = std::filesystem;

bool isHexadecimal(const std::string& name) {
  return name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// <directory>/ab/<ab...digest>: nothing else is ours to remove. tmp/ is swept when the
// cache is opened.
std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const auto& shard : fs::directory_iterator(directory)) {
    const std::string name = shard.path().filename();
    if (name.size() != 2 || !isHexadecimal(name) || !shard.is_directory()) continue;
    for (const auto& entry : fs::directory_iterator(shard.path()))
      if (entry.path().filename().string().starts_with(name)) found.push_back(entry.path());
  }
  return found;
}

// A program may be replacing the entry: what is gone counts for nothing.
std::uintmax_t sizeOf(const fs::path& entry) {
  std::uintmax_t bytes = 0;
  std::error_code gone;
  for (const auto& file : fs::directory_iterator(entry, gone)) {
    const std::uintmax_t size = file.file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

template <typename Work>
CacheContents withEach(const fs::path& directory, const char* doing, Work&& work) {
  CacheContents contents;
  std::error_code failed;
  if (!fs::exists(directory, failed)) return contents;
  try {
    for (const fs::path& entry : entries(directory)) {
      ++contents.copies;
      contents.bytes += sizeOf(entry);
      work(entry);
    }
  } catch (const fs::filesystem_error& error) {
    throw runtime::CacheError(std::string("cannot ") + doing + " the cache of copies " +
                              directory.string() + ": " + error.what() +
                              "; expected a directory of this user's with all rights");
  }
  return contents;
}

}  // namespace

CacheContents cacheContents(const fs::path& directory) {
  return withEach(directory, "read", [](const fs::path&) {});
}

CacheContents clearCache(const fs::path& directory) {
  return withEach(directory, "clear", [](const fs::path& entry) { fs::remove_all(entry); });
}

}  // namespace multipy::loader
