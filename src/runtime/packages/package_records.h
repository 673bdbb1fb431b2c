// What is in a torch.package: its records, read through torch's own reader of zip files.
//
// The file may be damaged or hostile: whatever it says, it is read or refused with a
// PackageError.
//
// Threads: every member from any thread.
#pragma once

#include <memory>
#include <string>

#include "runtime/packages/package_reader.h"

namespace caffe2::serialize {
class PyTorchStreamReader;
}

namespace multipy::runtime {

class PackageRecords {
 public:
  /// `name` is how errors call it. Throws PackageError, saying what was found, if
  /// the bytes are no torch.package.
  PackageRecords(std::string name, std::shared_ptr<PackageBytes> bytes);
  ~PackageRecords();
  PackageRecords(const PackageRecords&) = delete;
  PackageRecords& operator=(const PackageRecords&) = delete;

  const std::string& name() const noexcept { return name_; }
  const std::shared_ptr<PackageBytes>& bytes() const noexcept { return bytes_; }

  /// The bytes of a resource, as save_text and save_binary put them there.
  /// Throws PackageError if there is none.
  std::string resource(const std::string& package, const std::string& resource) const;
  /// Throws PackageError if there is no such resource. Names what is there.
  void requireResource(const std::string& package, const std::string& resource) const;

 private:
  std::string recordName(const std::string& package, const std::string& resource) const;
  std::string neighbours(const std::string& package) const;
  [[noreturn]] void failToRead(const std::string& package, const std::string& resource,
                               const std::string& why) const;

  const std::string name_;
  const std::shared_ptr<PackageBytes> bytes_;
  const std::unique_ptr<caffe2::serialize::PyTorchStreamReader> records_;  // has its own lock
};

}  // namespace multipy::runtime
