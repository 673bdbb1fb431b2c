#include "elf/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "multipy/runtime/Exception.h"

namespace multipy::elf {
namespace {

class Descriptor {
 public:
  // Non-blocking, so that opening a FIFO by mistake does not wait for a writer.
  explicit Descriptor(const std::filesystem::path& file)
      : number_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const noexcept { return number_; }

 private:
  int number_;
};

[[noreturn]] void failWithErrno(const std::filesystem::path& file, const char* doing) {
  const std::error_code cause(errno, std::generic_category());
  throw runtime::LoadError(std::string("cannot ") + doing + " the shared object " + file.string() +
                           ": " + cause.message());
}

}  // namespace

FileBytes FileBytes::map(const std::filesystem::path& file) {
  const Descriptor descriptor(file);
  if (descriptor < 0) failWithErrno(file, "open");
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) failWithErrno(file, "get the size of");
  if (!S_ISREG(status.st_mode))
    throw runtime::LoadError("cannot read the shared object " + file.string() +
                             ": it is not a regular file; give the path of a library");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return own({});  // mmap refuses it; to the reader it is just too short
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (start == MAP_FAILED) failWithErrno(file, "map");
  std::shared_ptr<const void> owner(
      start, [size](const void* mapping) { ::munmap(const_cast<void*>(mapping), size); });
  return {std::move(owner), {static_cast<const std::byte*>(start), size}};
}

FileBytes FileBytes::own(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::span<const std::byte> view(*owner);
  return {std::move(owner), view};
}

}  // namespace multipy::elf
