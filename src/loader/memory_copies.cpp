#include "loader/memory_copies.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "base/file_descriptor.h"
#include "base/file_io.h"
#include "base/mutex.h"
#include "multipy/runtime/Exception.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U  // Linux 6.3
#endif

namespace multipy::loader {
namespace {

class MemoryCopy final : public CachedCopy {
 public:
  explicit MemoryCopy(base::FileDescriptor descriptor)
      : descriptor_(std::move(descriptor)),
        path_("/proc/self/fd/" + std::to_string(descriptor_.get())) {}
  const std::filesystem::path& path() const noexcept override { return path_; }
  bool isUnchanged() const override { return true; }  // it is sealed
  bool discardIfDamaged() override { return false; }

 private:
  base::FileDescriptor descriptor_;
  const std::filesystem::path path_;
};

[[noreturn]] void fail(const std::string& fileName, const char* step, int error,
                       const std::string& because) {
  throw runtime::CacheError("cannot keep the private copy of " + fileName + " in memory: " + step +
                            ": " + std::system_category().message(error) +
                            " (a memory file was tried because " + because +
                            "); free some memory, raise the limit of open files, or set "
                            "XDG_CACHE_HOME to a directory of yours that can be written");
}

/// Linux lets an administrator forbid memory files that can be executed as
/// programs (vm.memfd_noexec); ours need not be, mapping their text is enough.
int createMemoryFile(const std::string& name) {
  const int descriptor = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_NOEXEC_SEAL);
  if (descriptor >= 0 || errno != EINVAL) return descriptor;
  return ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);  // before Linux 6.3
}

std::shared_ptr<CachedCopy> create(const std::string& fileName, std::span<const std::byte> bytes,
                                   const std::string& because) {
  // /proc/self/maps lists a memory file by this name; the number keeps it apart
  // from every other one of this process. The kernel allows 249 characters.
  static std::atomic<unsigned> count{0};
  const std::string name = "multipy-" + std::to_string(count++) + "-" + fileName.substr(0, 200);
  base::FileDescriptor file(createMemoryFile(name));
  if (!file) fail(fileName, "memfd_create", errno, because);
  if (int error = base::writeAll(file.get(), bytes)) fail(fileName, "write", error, because);
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)) {
    fail(fileName, "sealing it", errno, because);
  }
  return std::make_shared<MemoryCopy>(std::move(file));
}

}  // namespace

std::shared_ptr<CachedCopy> MemoryCopies::get(const std::string& key, const std::string& fileName,
                                              const std::function<std::vector<std::byte>()>& make,
                                              const std::string& because) {
  {
    const base::Lock lock(mutex_);
    std::erase_if(alive_, [](const auto& entry) { return entry.second.expired(); });
    if (auto found = alive_.find(key); found != alive_.end()) {
      if (auto copy = found->second.lock()) return copy;
    }
  }
  auto made = create(fileName, make(), because);  // unlocked: making takes long
  const base::Lock lock(mutex_);
  auto& entry = alive_[key];
  if (auto winner = entry.lock()) return winner;  // another thread was faster
  entry = made;
  return made;
}

}  // namespace multipy::loader
