#include "runtime/packages/package_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/mutex.h"
#include "multipy/runtime/Exception.h"

namespace multipy::runtime {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& found) {
  throw PackageError("cannot open the package " + path + ": " + found +
                     ", expected a file written by torch.package.PackageExporter");
}

}  // namespace

FileReader::FileReader(const std::string& path)
    // (Of a FIFO, to say so without waiting for one that writes to it.)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0) refuse(path, std::strerror(errno));
  struct stat status {};
  std::string found;
  if (::fstat(file_, &status) != 0)
    found = std::strerror(errno);
  else if (S_ISDIR(status.st_mode))
    found = "it is a directory";
  else if (!S_ISREG(status.st_mode))
    found = "it is no regular file";
  if (!found.empty()) {
    ::close(file_);
    refuse(path, found);
  }
  size_ = static_cast<std::size_t>(status.st_size);
}

FileReader::~FileReader() { ::close(file_); }

std::size_t FileReader::read(std::uint64_t position, void* buffer, std::size_t n,
                             const char* /*what*/) const {
  std::size_t done = 0;
  while (done < n) {
    const ssize_t got = ::pread(file_, static_cast<char*>(buffer) + done, n - done,
                                static_cast<off_t>(position + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

SerialReader::SerialReader(std::shared_ptr<PackageBytes> reader) : reader_(std::move(reader)) {
  if (!reader_)
    throw InvalidArgument(
        "loadPackage: the reader is a null pointer, expected one that reads a "
        "file written by torch.package.PackageExporter");
}

std::size_t SerialReader::size() const {
  const base::Lock lock(mutex_);
  return reader_->size();
}

std::size_t SerialReader::read(std::uint64_t position, void* buffer, std::size_t n,
                               const char* what) const {
  const base::Lock lock(mutex_);
  return reader_->read(position, buffer, n, what);
}

}  // namespace multipy::runtime
