// Where the sockets are by which programs show their pools (StatsSocket).
//
// Threads: any.
#pragma once

#include <sys/un.h>

#include <filesystem>

namespace multipy::runtime {

/// Of this user: $XDG_RUNTIME_DIR/multipy if that is an absolute path, else /run/user/<uid>/multipy
/// if there is /run/user/<uid>, else /tmp/multipy-<uid>.
std::filesystem::path statsFolder();
/// The same, made if it is not there. EnvironmentError if it cannot be, or others could look into
/// it.
std::filesystem::path madeStatsFolder();
/// The address of a socket there. EnvironmentError if the path is too long for one.
sockaddr_un socketAddress(const std::filesystem::path& path);

}  // namespace multipy::runtime
