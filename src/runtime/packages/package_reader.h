// Where a package's bytes come from. One reader serves all interpreters.
//
// Threads: read() from any thread.
#pragma once

#include <caffe2/serialize/read_adapter_interface.h>

#include <memory>
#include <string>

#include "base/mutex.h"

namespace multipy::runtime {

using PackageBytes = caffe2::serialize::ReadAdapterInterface;

/// A file, opened once: its content stays what it was when the path is replaced.
/// Reads that fail give fewer bytes than asked for, which the zip reader reports.
class FileReader final : public PackageBytes {
 public:
  /// Throws PackageError if it is not there, no regular file, or not readable.
  explicit FileReader(const std::string& path);
  ~FileReader() override;
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  std::size_t size() const override { return size_; }
  std::size_t read(std::uint64_t position, void* buffer, std::size_t n,
                   const char* what = "") const override;

 private:
  int file_;
  std::size_t size_ = 0;
};

/// A reader of the user's, of which it is not known whether it can be used by
/// many threads: it is called by one at a time.
class SerialReader final : public PackageBytes {
 public:
  /// Throws InvalidArgument if it is null.
  explicit SerialReader(std::shared_ptr<PackageBytes> reader);
  std::size_t size() const override;
  std::size_t read(std::uint64_t position, void* buffer, std::size_t n,
                   const char* what = "") const override;

 private:
  const std::shared_ptr<PackageBytes> reader_;
  mutable base::Mutex mutex_;  // held while reader_ is called
};

}  // namespace multipy::runtime
