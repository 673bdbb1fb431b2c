#include "runtime/package_source.h"

#include <c10/util/Exception.h>
#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "runtime/failure.h"
#include "runtime/interpreter_core.h"

namespace multipy::runtime {
namespace {

using caffe2::serialize::PyTorchStreamReader;

[[noreturn]] void refuse(const std::string& name, const std::string& found) {
  throw PackageError("cannot open the package " + name + ": " + found +
                     ", expected a torch.package; make one in Python with `with "
                     "torch.package.PackageExporter(path) as exporter: exporter.intern(...); "
                     "exporter.save_pickle(\"model\", \"model.pkl\", model)`");
}

bool beginsLikeZip(const PackageBytes& bytes) {
  std::array<char, 4> magic{};
  return bytes.read(0, magic.data(), magic.size(), "zip magic") == magic.size() &&
         std::memcmp(magic.data(), "PK\3\4", magic.size()) == 0;
}

std::unique_ptr<PyTorchStreamReader> openRecords(const std::string& name,
                                                 const std::shared_ptr<PackageBytes>& bytes) {
  if (!beginsLikeZip(*bytes))
    refuse(name, "found " + std::to_string(bytes->size()) + " bytes that are no zip file");
  try {
    auto records = std::make_unique<PyTorchStreamReader>(bytes);
    // Every torch.package lists its extern modules, be it none.
    if (records->hasRecord(".data/extern_modules")) return records;
    if (records->hasRecord("constants.pkl") || records->hasRecord("code/__torch__.py"))
      refuse(name, "found a TorchScript archive (torch.jit.save)");
    if (records->hasRecord("data.pkl")) refuse(name, "found a file written by torch.save");
    refuse(name, "found a zip file without .data/extern_modules");
  } catch (const c10::Error& error) {
    refuse(name, std::string("found a zip file that torch cannot read (") +
                     error.what_without_backtrace() + ")");
  }
}

}  // namespace

PackageSource::PackageSource(std::string name, std::shared_ptr<PackageBytes> bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)), records_(openRecords(name_, bytes_)) {}

PackageSource::~PackageSource() = default;

Handle PackageSource::importer(const std::shared_ptr<InterpreterCore>& core) {
  if (Handle known = importers_.find(*core)) return known;
  Failure failure;
  Handle made = core->api().openPackage(bytes_, name_.c_str(), failure);
  if (!made) throwFailure(failure, name_);
  return importers_.keep(core, made);
}

// torch.package's own rule: dots of the package become folders.
std::string PackageSource::recordName(const std::string& package,
                                      const std::string& resource) const {
  std::string folder = package;
  std::replace(folder.begin(), folder.end(), '.', '/');
  return folder + "/" + resource;
}

std::string PackageSource::neighbours(const std::string& package) const {
  constexpr std::size_t kNamed = 10;
  std::vector<std::string> here, anywhere;
  for (const std::string& record : records_->getAllRecords()) {
    if (record.starts_with(".data/")) continue;
    anywhere.push_back(record);
    if (record.starts_with(recordName(package, ""))) here.push_back(record);
  }
  const auto& shown = here.empty() ? anywhere : here;
  std::string text = here.empty() ? "the package has" : "that folder of the package has";
  for (std::size_t i = 0; i < std::min(shown.size(), kNamed); ++i)
    text += (i ? ", " : " ") + shown[i];
  if (shown.size() > kNamed) text += " and " + std::to_string(shown.size() - kNamed) + " more";
  return shown.empty() ? "the package is empty" : text;
}

void PackageSource::requireResource(const std::string& package, const std::string& resource) const {
  const std::string record = recordName(package, resource);
  if (records_->hasRecord(record)) return;
  throw PackageError("cannot load '" + resource + "' of '" + package + "' from the package " +
                     name_ + ": found no record " + record + " in it; " + neighbours(package));
}

std::string PackageSource::resource(const std::string& package, const std::string& resource) const {
  requireResource(package, resource);
  try {
    const auto [data, size] = records_->getRecord(recordName(package, resource));
    return std::string(static_cast<const char*>(data.get()), size);
  } catch (const c10::Error& error) {
    throw PackageError("cannot read '" + resource + "' of '" + package + "' from the package " +
                       name_ + ": " + error.what_without_backtrace() +
                       "; has the file been changed since it was opened?");
  }
}

}  // namespace multipy::runtime
