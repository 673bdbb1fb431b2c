#include "loader/copies_in_use.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

namespace multipy::loader {
namespace {

constexpr const char* kInUse = "in-use";

base::FileDescriptor openInUse(int cache, int access) {
  return base::FileDescriptor(
      ::openat(cache, kInUse, access | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
}

/// A byte each; two entries of one byte are in use together, and are 2^-60 probable.
off_t byteOf(const std::string& digest) {
  constexpr std::size_t kDigits = 15;
  off_t byte = 0;
  std::from_chars(digest.data(), digest.data() + std::min(kDigits, digest.size()), byte, 16);
  return byte;
}

bool setLock(int file, short type, const std::string& digest) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byteOf(digest);
  lock.l_len = 1;
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

}  // namespace

void CopiesInUse::add(int cache, const std::string& digest) {
  struct stat there, ours;
  const bool current = file_ && ::fstatat(cache, kInUse, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                       ::fstat(file_.get(), &ours) == 0 && there.st_dev == ours.st_dev &&
                       there.st_ino == ours.st_ino;
  if (!current) file_ = openInUse(cache, O_RDONLY);
  if (file_) setLock(file_.get(), F_RDLCK, digest);
}

CopiesOfOthers::CopiesOfOthers(int cache) : file_(openInUse(cache, O_RDWR)) {
  if (!file_) throw std::system_error(errno, std::system_category(), "open its locks");
}

bool CopiesOfOthers::lock(const std::string& digest) {
  if (setLock(file_.get(), F_WRLCK, digest)) return true;
  return errno != EAGAIN && errno != EACCES;  // there are no such locks here, for any program
}

void CopiesOfOthers::release(const std::string& digest) { setLock(file_.get(), F_UNLCK, digest); }

}  // namespace multipy::loader
