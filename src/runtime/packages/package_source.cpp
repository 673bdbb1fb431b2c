#include "runtime/packages/package_source.h"

#include <utility>

#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/gil.h"

namespace multipy::runtime {

PackageSource::PackageSource(std::string name, std::shared_ptr<PackageBytes> bytes)
    : records_(std::move(name), std::move(bytes)) {}

BorrowedReference PackageSource::importer(const Entered& inside) {
  if (const BorrowedReference known = importers_.find(inside)) return known;
  Failure failure;
  NewReference made = inside.python().openPackage(records_.bytes(), name().c_str(), failure);
  if (!made) throwFailure(failure, name());
  return importers_.keep(inside, std::move(made));
}

}  // namespace multipy::runtime
