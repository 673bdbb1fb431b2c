#include "runtime/pool/stats_folder.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {

namespace fs = std::filesystem;

fs::path statsFolder() {
  if (const char* given = std::getenv("XDG_RUNTIME_DIR"); given && *given == '/')
    return fs::path(given) / "multipy";
  const std::string user = std::to_string(::geteuid());
  std::error_code ignored;
  if (const fs::path folder = "/run/user/" + user; fs::is_directory(folder, ignored))
    return folder / "multipy";
  return "/tmp/multipy-" + user;
}

fs::path madeStatsFolder() {
  const fs::path folder = statsFolder();
  const auto refuse = [&](const std::string& why) {
    throw EnvironmentError("cannot show a pool's figures: the folder " + folder.string() + " " +
                           why + "; set XDG_RUNTIME_DIR to a directory of this user's own");
  };
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    refuse(std::string("cannot be made: ") + std::strerror(errno));
  struct stat found;
  if (::lstat(folder.c_str(), &found) != 0)
    refuse(std::string("cannot be looked at: ") + std::strerror(errno));
  if (!S_ISDIR(found.st_mode)) refuse("is no directory");
  if (found.st_uid != ::geteuid())
    refuse("belongs to user " + std::to_string(found.st_uid) + ", expected " +
           std::to_string(::geteuid()));
  if ((found.st_mode & 077) != 0) refuse("can be read or changed by others, expected mode 0700");
  return folder;
}

sockaddr_un socketAddress(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& text = path.native();
  if (text.size() >= sizeof address.sun_path)
    throw EnvironmentError("cannot show a pool's figures: the path " + text + " has " +
                           std::to_string(text.size()) + " characters, and a socket's at most " +
                           std::to_string(sizeof address.sun_path - 1) +
                           "; give a shorter name, or set XDG_RUNTIME_DIR to a shorter path");
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

}  // namespace multipy::runtime
