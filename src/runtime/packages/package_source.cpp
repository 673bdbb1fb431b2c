#include "runtime/packages/package_source.h"

#include <utility>

#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {

PackageSource::PackageSource(std::string name, std::shared_ptr<PackageBytes> bytes)
    : records_(std::move(name), std::move(bytes)) {}

Handle PackageSource::importer(const std::shared_ptr<InterpreterCore>& core) {
  if (Handle known = importers_.find(*core)) return known;
  Failure failure;
  Handle made = core->api().openPackage(records_.bytes(), name().c_str(), failure);
  if (!made) throwFailure(failure, name());
  return importers_.keep(core, made);
}

}  // namespace multipy::runtime
