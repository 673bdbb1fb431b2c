// A torch.package as all interpreters of a manager share it: its bytes, what
// records it has, and the importer in each interpreter that has used it.
//
// Threads: every member from any thread.
#pragma once

#include <memory>
#include <string>

#include "runtime/handle_table.h"
#include "runtime/package_reader.h"

namespace caffe2::serialize {
class PyTorchStreamReader;
}

namespace multipy::runtime {

class PackageSource {
 public:
  /// `name` is how errors call it. Throws PackageError, saying what was found, if
  /// the bytes are no torch.package.
  PackageSource(std::string name, std::shared_ptr<PackageBytes> bytes);
  ~PackageSource();

  const std::string& name() const noexcept { return name_; }

  /// The PackageImporter in this interpreter, made on first use. Borrowed; with
  /// the GIL. Throws what Failure says.
  Handle importer(const std::shared_ptr<InterpreterCore>& core);

  /// The bytes of a resource, as save_text and save_binary put them there.
  /// Throws PackageError if there is none.
  std::string resource(const std::string& package, const std::string& resource) const;
  /// Throws PackageError if there is no such resource. Names what is there.
  void requireResource(const std::string& package, const std::string& resource) const;

 private:
  std::string recordName(const std::string& package, const std::string& resource) const;
  std::string neighbours(const std::string& package) const;

  const std::string name_;
  const std::shared_ptr<PackageBytes> bytes_;
  const std::unique_ptr<caffe2::serialize::PyTorchStreamReader> records_;  // has its own lock
  HandleTable importers_;
};

}  // namespace multipy::runtime
