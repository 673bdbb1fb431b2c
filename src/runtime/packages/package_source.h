// A torch.package as all interpreters of a manager share it: its bytes, what
// records it has, and the importer in each interpreter that has used it.
//
// Threads: every member from any thread.
#pragma once

#include <memory>
#include <string>

#include "runtime/interpreter/object_table.h"
#include "runtime/packages/package_records.h"

namespace multipy::runtime {

class PackageSource {
 public:
  /// As PackageRecords.
  PackageSource(std::string name, std::shared_ptr<PackageBytes> bytes);

  const std::string& name() const noexcept { return records_.name(); }

  /// The PackageImporter in this interpreter, made on first use. Throws what Failure says.
  BorrowedReference importer(const Entered& inside);

  /// As PackageRecords.
  std::string resource(const std::string& package, const std::string& resource) const {
    return records_.resource(package, resource);
  }
  void requireResource(const std::string& package, const std::string& resource) const {
    records_.requireResource(package, resource);
  }

 private:
  const PackageRecords records_;
  ObjectTable importers_;
};

}  // namespace multipy::runtime
