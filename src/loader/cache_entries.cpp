#include "loader/cache_entries.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <memory>
#include <random>
#include <string_view>
#include <system_error>

#include "base/file_descriptor.h"
#include "loader/trusted_directory.h"

namespace multipy::loader {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::int64_t kHour = 3600;

[[noreturn]] void failWith(int error, const std::string& what) {
  throw std::system_error(error, std::system_category(), what);
}

/// Removed or replaced by another process since its name was read.
bool isGone(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

/// The names in a directory, without "." and "..".
class Listing {
 public:
  explicit Listing(base::FileDescriptor directory) : open_(::fdopendir(directory.get())) {
    if (open_) directory.release();  // closedir() closes it
  }
  explicit operator bool() const noexcept { return open_ != nullptr; }
  int descriptor() const noexcept { return ::dirfd(open_.get()); }
  /// Null at the end.
  const char* next() {
    while (const dirent* item = ::readdir(open_.get())) {
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") return item->d_name;
    }
    return nullptr;
  }

 private:
  struct Close {
    void operator()(DIR* listing) const { ::closedir(listing); }
  };
  std::unique_ptr<DIR, Close> open_;
};

bool isHexadecimal(std::string_view name) {
  return name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string shardOf(const std::string& digest) { return digest.substr(0, 2); }
std::string pathOf(const std::string& digest) { return shardOf(digest) + "/" + digest; }

/// False if the entry has gone.
bool measure(int shard, CacheEntry& entry) {
  base::FileDescriptor directory(::openat(shard, entry.digest.c_str(), kDirectory));
  struct stat status;
  if (!directory || ::fstat(directory.get(), &status)) {
    if (isGone(errno)) return false;
    failWith(errno, "open the entry " + entry.digest);
  }
  entry.lastUse = status.st_mtim.tv_sec;
  Listing files(std::move(directory));
  if (!files) failWith(errno, "read the entry " + entry.digest);
  while (const char* file = files.next()) {
    if (::fstatat(files.descriptor(), file, &status, AT_SYMLINK_NOFOLLOW) == 0)
      entry.bytes += static_cast<std::uintmax_t>(status.st_size);
  }
  return true;
}

void listShard(int cache, const std::string& name, std::vector<CacheEntry>& found) {
  base::FileDescriptor shard(::openat(cache, name.c_str(), kDirectory));
  if (!shard && isGone(errno)) return;
  if (!shard) failWith(errno, "open the directory " + name);
  Listing names(std::move(shard));
  if (!names) failWith(errno, "read the directory " + name);
  while (const char* digest = names.next()) {
    CacheEntry entry{digest};
    if (entry.digest.starts_with(name) && isHexadecimal(digest) &&
        measure(names.descriptor(), entry))
      found.push_back(std::move(entry));
  }
}

}  // namespace

std::vector<CacheEntry> listEntries(int cache) {
  std::vector<CacheEntry> found;
  base::FileDescriptor again(::openat(cache, ".", kDirectory));
  if (!again) failWith(errno, "open the directory");
  Listing shards(std::move(again));
  if (!shards) failWith(errno, "read the directory");
  while (const char* name = shards.next())
    if (std::string_view(name).size() == 2 && isHexadecimal(name)) listShard(cache, name, found);
  return found;
}

std::int64_t lastUseOf(int cache, const std::string& digest) {
  struct stat status;
  if (::fstatat(cache, pathOf(digest).c_str(), &status, AT_SYMLINK_NOFOLLOW)) return -1;
  return status.st_mtim.tv_sec;
}

void setLastUse(int cache, const std::string& digest) {
  ::utimensat(cache, pathOf(digest).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void renewLastUse(int entry) {
  struct stat status;
  if (::fstat(entry, &status)) return;
  const std::int64_t since = ::time(nullptr) - status.st_mtim.tv_sec;
  // (One from the future is what a clock has left that went wrong.)
  if (since >= kHour || since < -kHour) ::futimens(entry, nullptr);
}

bool throwAway(int cache, const std::string& digest) {
  base::FileDescriptor shard(::openat(cache, shardOf(digest).c_str(), kDirectory));
  if (!shard && isGone(errno)) return false;
  base::FileDescriptor temporary = openOwn(cache, kTemporaryDirectory, true);
  if (!shard || !temporary) failWith(errno, "open a directory of the cache");
  const std::string name = uniqueName();
  if (::renameat(shard.get(), digest.c_str(), temporary.get(), name.c_str())) {
    if (errno == ENOENT) return false;
    failWith(errno, "move the entry " + digest + " away");
  }
  shard = {};  // for the one that this needs
  removeTemporary(temporary.get(), name);
  return true;
}

std::string uniqueName() {
  static std::atomic<unsigned> count{0};
  std::random_device random;  // process ids repeat across containers
  return std::to_string(::getpid()) + "-" + std::to_string(count++) + "-" +
         std::to_string(random());
}

void removeTemporary(int temporary, const std::string& name) {
  base::FileDescriptor directory(::openat(temporary, name.c_str(), kDirectory));
  if (!directory) {
    ::unlinkat(temporary, name.c_str(), 0);
    return;
  }
  if (Listing files(std::move(directory)); files) {
    while (const char* file = files.next()) ::unlinkat(files.descriptor(), file, 0);
  }
  ::unlinkat(temporary, name.c_str(), AT_REMOVEDIR);
}

void removeAbandoned(int cache) {
  base::FileDescriptor temporary = openOwn(cache, kTemporaryDirectory, false);
  if (!temporary) return;
  Listing names(std::move(temporary));
  if (!names) return;
  while (const char* name = names.next()) {
    base::FileDescriptor entry(::openat(names.descriptor(), name, kDirectory));
    // Its writer lives, or we cannot know (no file descriptor is left).
    if (entry ? ::flock(entry.get(), LOCK_EX | LOCK_NB) : errno != ENOTDIR && errno != ELOOP)
      continue;
    removeTemporary(names.descriptor(), name);
  }
}

}  // namespace multipy::loader
