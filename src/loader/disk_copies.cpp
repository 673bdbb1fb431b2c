// A cache directory that several programs write at the same time and that
// outlives crashes.
//
//   <cache>/ab/<ab...digest>/   an entry (cache_entries.h has what else lies there)
//     libfoo.so                 the copy, under its original's name for gdb and perf
//     verified                  its digest, and its stamp when that was last right
//
// An entry appears by one rename of its directory, so no process ever sees half of
// one, and of several writers the first wins; the others take what it made.
// While a process replaces an entry it holds a lock (flock) on the directory
// above it, so that no process throws away what another one has just repaired. An
// entry in tmp/ is locked by its writer; one whose lock is free was left by a
// crash and is swept when the cache is next opened. Kernels drop such locks when
// a process ends, however it ends.
//
// Is the copy still what was written? Reading it all (35 MB for a large
// library) at each load would cost more than loading it, so `verified` also
// holds a stamp: size, inode, modification and change time, boot id. While the
// stamp fits, the contents are taken for right; where it does not, they are
// compared with their digest and, if they are right, the stamp is renewed; if
// not, the copy is made again.
//   - A truncated or overwritten file is noticed: any write changes the change
//     time, which no program can set.
//   - So is a file torn by a power failure, though nothing here calls fsync: the
//     boot id differs, and the contents are read once after each boot.
//   - A bad disk or a person with our user id or root's, who can rewrite
//     `verified` as well, is not: the latter needs no cache to run code as us.
//     Others cannot reach the directory at all.
//   - What dlopen refuses is read in any case (CachedCopy::discardIfDamaged()).
//
// Entries may go at any time: thrown away by a program that keeps the directory within its
// limits (cache_trimming.h), though not while this one has them in use, or removed by hand.
// What is mapped stays mapped, and what is wanted again is made again.
#include "loader/disk_copies.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/blake2b.h"
#include "base/file_descriptor.h"
#include "base/file_io.h"
#include "base/mutex.h"
#include "loader/cache_entries.h"
#include "loader/trusted_directory.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

constexpr const char* kVerified = "verified";
constexpr const char* kFormat = "multipy copy 1";

[[noreturn]] void failWith(int error, const std::string& what) {
  throw std::system_error(error, std::system_category(), what);
}

// --- is a copy what was written?

const std::string& bootId() {
  static const auto& id = *new std::string([] {  // never destroyed, as LoadingProcess
    base::FileDescriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    // Without one (no /proc), no stamp fits that was made by another process.
    return (file ? base::readAll(file.get(), 100) : std::nullopt)
        .value_or("process " + std::to_string(::getpid()) + "\n");
  }());
  return id;
}

std::string stampOf(const struct stat& status) {
  const auto time = [](const timespec& at) {
    return std::to_string(at.tv_sec) + "." + std::to_string(at.tv_nsec);
  };
  return "size " + std::to_string(status.st_size) + " inode " + std::to_string(status.st_ino) +
         " modified " + time(status.st_mtim) + " changed " + time(status.st_ctim) + " boot " +
         bootId();
}

std::string verifiedText(const std::string& digest, const struct stat& status) {
  return std::string(kFormat) + "\n" + digest + "\n" + stampOf(status);
}

std::string digestOfFile(int file) {
  base::Blake2b hash;
  std::array<std::byte, 1 << 16> buffer;
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(file, buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return hash.finish();
    hash.update(std::span(buffer).first(static_cast<std::size_t>(got)));
    at += got;
  }
}

base::FileDescriptor openOwnFile(int directory, const std::string& name, struct stat& status) {
  base::FileDescriptor file(
      ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &status)) return {};
  const bool ours = S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
                    !(status.st_mode & (S_IWGRP | S_IWOTH));
  return ours ? std::move(file) : base::FileDescriptor();
}

/// Others may be renewing the stamp too; a rename leaves one of the texts. That
/// it cannot be written is no error: the contents have just been found right.
void renewStamp(int directory, const std::string& text) {
  const std::string name = "." + uniqueName();
  base::FileDescriptor file(
      ::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return;
  if (base::writeAll(file.get(), text) == 0 &&
      ::renameat(directory, name.c_str(), directory, kVerified) == 0) {
    return;
  }
  ::unlinkat(directory, name.c_str(), 0);
}

/// By the stamp where that fits, or by the contents in any case.
enum class Check { Stamp, Contents };

bool isGood(int shard, const std::string& digest, const std::string& fileName,
            Check by = Check::Stamp) {
  base::FileDescriptor entry = openOwn(shard, digest, false);
  struct stat status, ignored;
  base::FileDescriptor copy =
      entry ? openOwnFile(entry.get(), fileName, status) : base::FileDescriptor();
  base::FileDescriptor check =
      copy ? openOwnFile(entry.get(), kVerified, ignored) : base::FileDescriptor();
  if (!check) return false;
  const auto text = base::readAll(check.get(), 1000);
  const std::string start = std::string(kFormat) + "\n";
  if (!text || text->compare(0, start.size(), start) != 0) return false;
  const std::string written =
      text->substr(start.size(), text->find('\n', start.size()) - start.size());
  renewLastUse(entry.get());
  if (by == Check::Stamp && *text == verifiedText(written, status)) return true;
  if (digestOfFile(copy.get()) != written) return false;
  renewStamp(entry.get(), verifiedText(written, status));
  return true;
}

class DiskCopy final : public CachedCopy {
 public:
  explicit DiskCopy(std::filesystem::path path) : path_(std::move(path)) {}
  const std::filesystem::path& path() const noexcept override { return path_; }
  bool isUnchanged() const override { return isGoodBy(Check::Stamp); }
  bool discardIfDamaged() override {
    if (isGoodBy(Check::Contents)) return false;
    const auto cache = openAt(path_.parent_path().parent_path().parent_path());
    try {
      if (cache) throwAway(cache.get(), path_.parent_path().filename());
    } catch (const std::system_error&) {
      // Then CopyCache::get() finds it, if its stamp tells.
    }
    return true;
  }

 private:
  static base::FileDescriptor openAt(const std::filesystem::path& directory) {
    return base::FileDescriptor(
        ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  bool isGoodBy(Check check) const {
    const auto entry = path_.parent_path();
    const base::FileDescriptor shard = openAt(entry.parent_path());
    return shard && isGood(shard.get(), entry.filename(), path_.filename(), check);
  }

  const std::filesystem::path path_;  // <cache>/ab/<ab...digest>/libfoo.so
};

// --- writing one

/// An entry being written in tmp/, removed again unless it is published.
class Draft {
 public:
  explicit Draft(int cache) : temporary_(openOwn(cache, kTemporaryDirectory, true)) {
    if (!temporary_) failWith(errno, std::string("open ") + kTemporaryDirectory);
    for (;;) {
      name_ = uniqueName();
      if (::mkdirat(temporary_.get(), name_.c_str(), 0700)) failWith(errno, "make a directory");
      directory_ = openOwn(temporary_.get(), name_, false);
      struct stat status;
      if (directory_ ? ::flock(directory_.get(), LOCK_EX) || ::fstat(directory_.get(), &status)
                     : errno != ENOENT) {
        const int error = errno;  // no file descriptor left, mostly
        ::unlinkat(temporary_.get(), name_.c_str(), AT_REMOVEDIR);
        failWith(error, "open and lock a new directory");
      }
      if (directory_ && status.st_nlink > 0) return;
      // A sweeper came between mkdirat and flock and took it for left behind.
    }
  }
  ~Draft() {
    if (published_) return;
    directory_ = {};  // the one that removeTemporary() needs
    removeTemporary(temporary_.get(), name_);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  void write(const std::string& fileName, std::span<const std::byte> bytes) {
    struct stat status;
    base::FileDescriptor copy = create(fileName, 0500);
    if (int error = base::writeAll(copy.get(), bytes)) failWith(error, "write");
    if (::fstat(copy.get(), &status)) failWith(errno, "stat");
    if (!copy.close()) failWith(errno, "close");
    base::FileDescriptor check = create(kVerified, 0600);
    const std::string text = verifiedText(base::Blake2b::digest(bytes), status);
    if (int error = base::writeAll(check.get(), text)) failWith(error, "write");
    if (!check.close()) failWith(errno, "close");
  }

  void publish(int shard, const std::string& digest) {
    if (::renameat(temporary_.get(), name_.c_str(), shard, digest.c_str())) {
      failWith(errno, "rename into place");
    }
    published_ = true;
  }

  /// Takes what lies at `digest` out of the way.
  void discardOld(int shard, const std::string& digest) {
    const std::string name = uniqueName();
    if (::renameat(shard, digest.c_str(), temporary_.get(), name.c_str()) == 0) {
      removeTemporary(temporary_.get(), name);
    } else if (errno != ENOENT) {
      failWith(errno, "move a damaged entry away");
    }
  }

 private:
  base::FileDescriptor create(const std::string& name, mode_t mode) {
    base::FileDescriptor file(
        ::openat(directory_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!file) failWith(errno, "create " + name);
    return file;
  }

  base::FileDescriptor temporary_, directory_;
  std::string name_;
  bool published_ = false;
};

void store(int cache, const std::string& digest, const std::string& fileName,
           std::span<const std::byte> bytes) {
  Draft draft(cache);
  draft.write(fileName, bytes);
  base::FileDescriptor shard = openOwn(cache, digest.substr(0, 2), true);
  if (!shard) failWith(errno, "open " + digest.substr(0, 2));
  if (::flock(shard.get(), LOCK_EX)) failWith(errno, "lock a directory");
  if (isGood(shard.get(), digest, fileName)) return;  // another writer was faster
  draft.discardOld(shard.get(), digest);
  draft.publish(shard.get(), digest);
}

/// The directory's real path, under which the kernel will list what is mapped
/// from it. Throws CacheError if it cannot be used.
std::filesystem::path realCacheDirectory(const std::filesystem::path& directory) {
  std::string why;
  base::FileDescriptor cache = openTrusted(directory, why);
  if (!cache) {
    throw runtime::CacheError("cannot keep private copies in " + directory.string() + ": " + why);
  }
  removeAbandoned(cache.get());
  std::error_code failed;
  auto real = std::filesystem::canonical(directory, failed);
  if (failed) {
    throw runtime::CacheError("cannot keep private copies in " + directory.string() +
                              ": its real path cannot be found: " + failed.message());
  }
  return real;
}

/// Frees them, and their pages first. Once some blocks of many megabytes have been freed,
/// glibc's malloc takes others like them from the thread's arena and keeps them at its top,
/// where malloc_trim() does not look: 20 MB for each interpreter whose copies were made by
/// this process.
void giveBack(std::vector<std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void checkFileName(const std::string& name) {
  if (name.empty() || name[0] == '.' || name == kVerified || name.find('/') != std::string::npos) {
    throw runtime::InvalidArgument("the copy cache was asked for a file named \"" + name +
                                   "\"; expected one plain name that does not begin with a dot");
  }
}

}  // namespace

DiskCopies::DiskCopies(const std::filesystem::path& directory)
    : directory_(realCacheDirectory(directory)) {
  std::string why;
  const base::FileDescriptor cache = openTrusted(directory_, why);
  if (cache) trimming_.opened(cache.get(), directory_);
}

void DiskCopies::markInUse(int cache, const std::string& digest) {
  const base::Lock lock(mutex_);
  inUse_.add(cache, digest);
}

std::shared_ptr<CachedCopy> DiskCopies::get(const std::string& key, const std::string& fileName,
                                            const std::function<std::vector<std::byte>()>& make) {
  checkFileName(fileName);
  const std::string digest = base::Blake2b::digest(key);
  const auto path = directory_ / digest.substr(0, 2) / digest / fileName;
  std::string why;
  // Opened anew each time: the directory may have been removed meanwhile.
  base::FileDescriptor cache = openTrusted(directory_, why);
  if (cache) {
    markInUse(cache.get(), digest);  // before it is looked at, so that it cannot go behind that
    base::FileDescriptor shard = openOwn(cache.get(), digest.substr(0, 2), false);
    if (shard && isGood(shard.get(), digest, fileName)) return std::make_shared<DiskCopy>(path);
  }
  std::vector<std::byte> bytes = make();
  if (cache) {
    try {
      store(cache.get(), digest, fileName, bytes);
      markInUse(cache.get(), digest);  // another program may have had it locked, to remove it
      trimming_.wrote(cache.get(), directory_, bytes.size());
      giveBack(std::move(bytes));
      return std::make_shared<DiskCopy>(path);
    } catch (const std::system_error& error) {
      why = "a copy cannot be kept in " + directory_.string() + ": " + error.what();
    }
  }
  {
    const base::Lock lock(mutex_);
    why_ = why;
  }
  return memory_.get(
      key, fileName, [&] { return std::move(bytes); }, why);
}

std::string DiskCopies::whyInMemory() const {
  const base::Lock lock(mutex_);
  return why_;
}

}  // namespace multipy::loader
