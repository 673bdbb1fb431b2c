#include "loader/trusted_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <deque>
#include <system_error>

namespace multipy::loader {
namespace {

constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

std::string errnoText(int error) { return std::system_category().message(error); }

std::string octal(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

/// Empty if only this user and root can exchange what lies in `directory`.
std::string whyUntrusted(const std::filesystem::path& directory) {
  struct stat status;
  if (::stat(directory.c_str(), &status)) return directory.string() + ": " + errnoText(errno);
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return directory.string() + " belongs to user " + std::to_string(status.st_uid) +
           ", expected user " + std::to_string(::geteuid()) + " or root";
  }
  if ((status.st_mode & kOthersMayWrite) && !(status.st_mode & S_ISVTX)) {
    return directory.string() + " has mode " + octal(status.st_mode) +
           ", expected one that no other user can write to (chmod go-w)";
  }
  return {};
}

/// Empty if only this user and root can exchange a name on the way to `directory`
/// (absolute), be it a directory's or that of a link that leads on.
std::string whyWayUntrusted(const std::filesystem::path& directory) {
  constexpr int kMostLinks = 40;  // as Linux
  const auto way = directory.relative_path();
  std::deque<std::filesystem::path> names(way.begin(), way.end());
  std::filesystem::path at = "/";  // without links
  for (int links = 0; !names.empty();) {
    if (auto why = whyUntrusted(at); !why.empty()) return why;
    const auto name = names.front();
    names.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    std::error_code isNoLink;
    const auto target = std::filesystem::read_symlink(at / name, isNoLink);
    if (isNoLink) {
      at /= name;
      continue;
    }
    if (++links > kMostLinks) return directory.string() + " leads over too many links";
    const auto rest = target.relative_path();
    names.insert(names.begin(), rest.begin(), rest.end());
    if (target.is_absolute()) at = "/";
  }
  return {};
}

std::string whyNotOwn(const struct stat& status) {
  if (status.st_uid != ::geteuid()) {
    return "belongs to user " + std::to_string(status.st_uid) + ", expected user " +
           std::to_string(::geteuid());
  }
  if (status.st_mode & kOthersMayWrite) {
    return "has mode " + octal(status.st_mode) +
           ", expected one that no other user can write to (chmod go-w)";
  }
  return {};
}

/// Makes `directory` and what is missing above it. 0, or errno.
int makeDirectories(const std::filesystem::path& directory) {
  if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT || !directory.has_relative_path()) return errno;
  if (int error = makeDirectories(directory.parent_path())) return error;
  return ::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

}  // namespace

base::FileDescriptor openTrusted(const std::filesystem::path& directory, std::string& why) {
  if (int error = makeDirectories(directory)) {
    why = "cannot make " + directory.string() + ": " + errnoText(error);
    return {};
  }
  base::FileDescriptor opened(::open(directory.c_str(), kDirectory | O_NOFOLLOW));
  struct stat status;
  if (!opened || ::fstat(opened.get(), &status)) {
    why = "cannot open the directory " + directory.string() +
          " (links are not followed): " + errnoText(errno);
    return {};
  }
  why = whyNotOwn(status);
  if (!why.empty()) {
    why = directory.string() + " " + why;
    return {};
  }
  why = whyWayUntrusted(std::filesystem::absolute(directory));
  if (!why.empty()) return {};
  struct statvfs system;
  if (::fstatvfs(opened.get(), &system) == 0 && (system.f_flag & ST_NOEXEC)) {
    why = directory.string() +
          " lies on a file system mounted noexec, from which no library can be loaded";
    return {};
  }
  return opened;
}

base::FileDescriptor openOwn(int parent, const std::string& name, bool make) {
  if (make && ::mkdirat(parent, name.c_str(), 0700) && errno != EEXIST) return {};
  base::FileDescriptor opened(::openat(parent, name.c_str(), kDirectory | O_NOFOLLOW));
  struct stat status;
  if (!opened || ::fstat(opened.get(), &status)) return {};
  if (!whyNotOwn(status).empty()) {
    errno = EPERM;
    return {};
  }
  return opened;
}

}  // namespace multipy::loader
