// What has become of a library that an interpreter has loaded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "loader/isolation_policy.h"

namespace multipy::loader {

struct LoadedLibrary {
  std::filesystem::path original;
  std::filesystem::path copy;  // equal to original where shared
  Isolation isolation;
  std::string reason;
  /// Bytes of the copy that the process has in memory once, with the original and
  /// its other copies (shared_pages.h). 0 where shared.
  std::size_t pagesShared = 0;
};

}  // namespace multipy::loader
