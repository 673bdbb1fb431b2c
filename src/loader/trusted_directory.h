// Directories that only this user can change.
//
// A library that we load is code that we run, so the directory it lies in, and
// every directory above it, must not be open to others: who may write in
// one of them may put another file in our path's place.
#pragma once

#include <filesystem>
#include <string>

#include "base/file_descriptor.h"

namespace multipy::loader {

/// Opens `directory`, made (0700, with its parents) if it is missing. It must be
/// a real directory, owned by this user and writable by no other. Every directory
/// on the way to it, over links as well, must be owned by this user or root and, unless
/// its sticky bit is set, be writable by no other. On failure gives no descriptor and says why.
base::FileDescriptor openTrusted(const std::filesystem::path& directory, std::string& why);

/// Opens the subdirectory `name`; no links. With `make`, it is made if missing.
/// errno tells why there is none; EPERM if it is not this user's alone.
base::FileDescriptor openOwn(int parent, const std::string& name, bool make);

}  // namespace multipy::loader
