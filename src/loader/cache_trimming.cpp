#include "loader/cache_trimming.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <exception>
#include <numeric>
#include <optional>
#include <system_error>
#include <vector>

#include "base/file_descriptor.h"
#include "loader/cache_entries.h"
#include "loader/cache_limits.h"
#include "loader/copies_in_use.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

constexpr const char* kTrimmed = "trimmed";
constexpr std::chrono::seconds kAfterOpening = std::chrono::days(1);
constexpr std::chrono::seconds kAfterWriting = std::chrono::hours(1);
/// What was used later than that from now on was so by a clock that went wrong.
constexpr std::int64_t kClockError = 24 * 3600;
constexpr std::uintmax_t kPartOfSize = 16;

/// Seconds since the directory was last trimmed; none if it never was.
std::optional<std::int64_t> sinceTrimmed(int cache) {
  struct stat status;
  if (::fstatat(cache, kTrimmed, &status, AT_SYMLINK_NOFOLLOW)) return std::nullopt;
  const std::int64_t since = ::time(nullptr) - status.st_mtim.tv_sec;
  if (since < 0) return std::nullopt;  // a clock went wrong
  return since;
}

/// The right to trim, for one process at a time; that it is not to be had at once means that
/// another one has it.
class Turn {
 public:
  explicit Turn(int cache)
      : file_(::openat(cache, kTrimmed, O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                       0600)) {
    if (!file_) throw std::system_error(errno, std::system_category(), "open its trimming stamp");
    taken_ = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
  }
  // Not by closing alone: a child that was forked off meanwhile has the descriptor, too.
  ~Turn() {
    if (taken_) ::flock(file_.get(), LOCK_UN);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const noexcept { return taken_; }
  void done() const { ::futimens(file_.get(), nullptr); }

 private:
  base::FileDescriptor file_;
  bool taken_ = false;
};

/// False if a program has it in use, or has begun to since it was listed, or it cannot be moved.
bool remove(int cache, CopiesOfOthers& others, const CacheEntry& entry) {
  if (!others.lock(entry.digest)) return false;
  bool removed = false;
  try {
    removed = lastUseOf(cache, entry.digest) == entry.lastUse && throwAway(cache, entry.digest);
  } catch (const std::system_error&) {
    // It stays, as trimCache() promises.
  }
  others.release(entry.digest);
  return removed;
}

CacheContents trim(int cache, const CacheLimits& limits) {
  CacheContents removed;
  const Turn turn(cache);
  if (!turn) return removed;
  std::vector<CacheEntry> entries = listEntries(cache);
  std::sort(entries.begin(), entries.end(), [](const CacheEntry& one, const CacheEntry& other) {
    return one.lastUse < other.lastUse;
  });
  const std::int64_t now = ::time(nullptr);
  std::uintmax_t bytes = 0;
  for (const CacheEntry& entry : entries) {
    bytes += entry.bytes;
    if (entry.lastUse > now + kClockError) setLastUse(cache, entry.digest);
  }
  CopiesOfOthers others(cache);
  for (const CacheEntry& entry : entries) {
    const bool old = limits.age && now - entry.lastUse > limits.age->count();
    const bool tooMuch = limits.bytes && bytes > *limits.bytes;
    if (!old && !tooMuch) break;  // those behind it were used later
    if (!remove(cache, others, entry)) continue;
    bytes -= entry.bytes;
    ++removed.copies;
    removed.bytes += entry.bytes;
  }
  turn.done();
  return removed;
}

}  // namespace

CacheContents trimCache(const std::filesystem::path& directory) {
  const base::FileDescriptor cache(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!cache && errno == ENOENT) return {};
  try {
    if (!cache) throw std::system_error(errno, std::system_category(), "open it");
    return trim(cache.get(), cacheLimits(cache.get(), directory));
  } catch (const std::system_error& error) {
    throw runtime::CacheError("cannot trim the cache of copies " + directory.string() + ": " +
                              error.what() +
                              "; expected a directory of this user's with all rights");
  }
}

void CacheTrimming::opened(int cache, const std::filesystem::path& directory) noexcept {
  const auto since = sinceTrimmed(cache);
  if (since && *since < kAfterOpening.count()) return;
  try {
    trim(cache, cacheLimits(cache, directory));
  } catch (const std::exception&) {
    // As said in the header.
  }
}

void CacheTrimming::wrote(int cache, const std::filesystem::path& directory,
                          std::uintmax_t bytes) noexcept {
  const std::uintmax_t written = written_ += bytes;
  try {
    const CacheLimits limits = cacheLimits(cache, directory);
    const auto since = sinceTrimmed(cache);
    const bool much = limits.bytes && written >= *limits.bytes / kPartOfSize;
    if (since && *since < kAfterWriting.count() && !much) return;
    written_ = 0;
    trim(cache, limits);
  } catch (const std::exception&) {
    // As said in the header.
  }
}

}  // namespace multipy::loader
