// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace multipy::base {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  /// Closes now and says whether that went well: some file systems report a
  /// full disk only here. errno tells why not.
  bool close() noexcept { return ::close(std::exchange(descriptor_, -1)) == 0; }
  /// The descriptor, which is the caller's to close from now on.
  int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

}  // namespace multipy::base
