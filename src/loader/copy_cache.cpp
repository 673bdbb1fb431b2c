// Which cache one gets. How copies are kept: disk_copies.cpp, memory_copies.cpp.
#include "loader/copy_cache.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "loader/disk_copies.h"
#include "loader/memory_copies.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

class InMemoryCache final : public CopyCache {
 public:
  explicit InMemoryCache(std::string why) : why_(std::move(why)) {}
  std::shared_ptr<CachedCopy> get(const std::string& key, const std::string& fileName,
                                  const std::function<std::vector<std::byte>()>& make) override {
    return memory_.get(key, fileName, make, why_);
  }
  std::filesystem::path directory() const override { return {}; }
  std::string whyInMemory() const override { return why_; }

 private:
  const std::string why_;
  MemoryCopies memory_;
};

/// The user's home directory as the password database has it; empty if unknown.
std::filesystem::path homeFromPasswordDatabase() {
  std::vector<char> buffer(16384);
  struct passwd entry, *found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) || !found) return {};
  return found->pw_dir ? found->pw_dir : "";
}

/// XDG Base Directory Specification: $XDG_CACHE_HOME if absolute, else
/// ~/.cache. A program with a changed user id does not believe its environment.
std::filesystem::path userCacheDirectory() {
  const auto absolute = [](const char* name) -> std::filesystem::path {
    const char* value = ::secure_getenv(name);
    return value && value[0] == '/' ? value : "";
  };
  if (auto directory = absolute("XDG_CACHE_HOME"); !directory.empty()) return directory / "multipy";
  auto home = absolute("HOME");
  if (home.empty()) home = homeFromPasswordDatabase();
  return home.is_absolute() ? home / ".cache" / "multipy" : std::filesystem::path();
}

}  // namespace

std::shared_ptr<CopyCache> CopyCache::forUser() {
  const auto directory = userCacheDirectory();
  if (directory.empty()) {
    return std::make_shared<InMemoryCache>(
        "neither XDG_CACHE_HOME nor HOME is an absolute path and the user has no home directory");
  }
  try {
    return in(directory);
  } catch (const runtime::CacheError& error) {
    return std::make_shared<InMemoryCache>(error.what());
  }
}

std::shared_ptr<CopyCache> CopyCache::in(const std::filesystem::path& directory) {
  if (directory.empty()) throw runtime::InvalidArgument("the directory of the copy cache is empty");
  auto absolute = std::filesystem::absolute(directory).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // "/a/b/" is "/a/b"
  return std::make_shared<DiskCopies>(absolute);
}

std::shared_ptr<CopyCache> CopyCache::inMemory() {
  return std::make_shared<InMemoryCache>("memory files were asked for");
}

}  // namespace multipy::loader
