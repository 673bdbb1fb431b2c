// The whole library on a disk without space. The C library's write(2) is
// interposed for files in one directory, since a real full file system can be
// mounted by root only (the copy cache's own tests have that).
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "multipy/runtime/interpreter_manager.h"

namespace {

namespace fs = std::filesystem;

std::string fullDirectory;  // set before there is a second thread
std::atomic<int> refusedWrites{0};

bool isInFullDirectory(int descriptor) {
  if (fullDirectory.empty()) return false;
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof(path));
  return length > 0 && std::string(path, length).starts_with(fullDirectory);
}

}  // namespace

extern "C" ssize_t write(int descriptor, const void* bytes, std::size_t count) {
  static const auto next =
      reinterpret_cast<ssize_t (*)(int, const void*, std::size_t)>(::dlsym(RTLD_NEXT, "write"));
  if (isInFullDirectory(descriptor)) {
    ++refusedWrites;
    errno = ENOSPC;
    return -1;
  }
  return next(descriptor, bytes, count);
}

namespace multipy::runtime {
namespace {

TEST(FullDisk, InterpretersWorkFromMemoryAndNothingIsLeftOnTheDisk) {
  std::string name = (fs::temp_directory_path() / "multipy-full-XXXXXX").string();
  fullDirectory = ::mkdtemp(name.data());
  InterpreterManagerOptions options;
  options.cacheDirectory = fs::path(fullDirectory) / "cache";
  {
    InterpreterManager manager(2, options);
    for (const Interpreter& interpreter : manager.allInstances()) {
      auto I = interpreter.acquireSession();
      // An extension module is one more private copy.
      EXPECT_EQ(I.global("_json", "encode_basestring")({"x"}).toIValue().toStringRef(), "\"x\"");
      EXPECT_EQ(
          I.global("decimal", "Decimal")({"1.5"}).attr("__str__")({}).toIValue().toStringRef(),
          "1.5");
    }
  }
  EXPECT_GT(refusedWrites, 0);
  for (const auto& entry : fs::recursive_directory_iterator(fullDirectory)) {
    if (entry.is_regular_file()) {
      EXPECT_EQ(entry.file_size(), 0u) << entry.path();
    }
  }
  fs::remove_all(fullDirectory);
}

}  // namespace
}  // namespace multipy::runtime
