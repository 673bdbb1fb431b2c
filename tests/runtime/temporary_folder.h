// A folder for one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace multipy::testing_support {

/// A new, empty folder. The caller removes it.
inline std::filesystem::path makeTemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "multipy-test-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a folder like " + name);
  return name;
}

}  // namespace multipy::testing_support
