#include "runtime/packages/package_records.h"

#include <c10/util/Exception.h>
#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "multipy/runtime/Exception.h"

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

/// Calls `work`, which reads through torch, and says what went wrong there, if anything did:
/// of a damaged file torch throws c10::Error, or what the standard library throws at the
/// numbers in it; a reader of the user's throws what it likes. Our own errors pass through.
template <typename Work>
std::optional<std::string> problemOf(const Work& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// The size of a record. torch believes the file's directory: it takes that much memory before it
/// looks at the record, and of some damaged ones hands out all of it as if it had been read.
std::size_t checkedSize(PyTorchStreamReader& records, const std::string& record,
                        std::size_t fileSize) {
  constexpr std::size_t kHighestRatio = 1032;  // of DEFLATE: 258 bytes of two bits
  const std::size_t size = records.getRecordSize(record);
  if (size / kHighestRatio > fileSize)
    throw std::runtime_error("found a record of " + std::to_string(size) +
                             " bytes, expected one that a file of " + std::to_string(fileSize) +
                             " bytes can hold");
  return size;
}

std::unique_ptr<PyTorchStreamReader> openZipFile(const std::string& name,
                                                 const std::shared_ptr<PackageBytes>& bytes) {
  if (!beginsLikeZip(*bytes))
    refuse(name, "found " + std::to_string(bytes->size()) + " bytes that are no zip file");
  auto records = std::make_unique<PyTorchStreamReader>(bytes);
  // Every torch.package lists its extern modules, be it none.
  if (records->hasRecord(".data/extern_modules")) return records;
  if (records->hasRecord("constants.pkl") || records->hasRecord("code/__torch__.py"))
    refuse(name, "found a TorchScript archive (torch.jit.save)");
  if (records->hasRecord("data.pkl")) refuse(name, "found a file written by torch.save");
  refuse(name, "found a zip file without .data/extern_modules");
}

std::unique_ptr<PyTorchStreamReader> openRecords(const std::string& name,
                                                 const std::shared_ptr<PackageBytes>& bytes) {
  std::unique_ptr<PyTorchStreamReader> records;
  if (const auto why = problemOf([&] { records = openZipFile(name, bytes); }))
    refuse(name, "found a zip file that torch cannot read (" + *why + ")");
  return records;
}

}  // namespace

PackageRecords::PackageRecords(std::string name, std::shared_ptr<PackageBytes> bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)), records_(openRecords(name_, bytes_)) {}

PackageRecords::~PackageRecords() = default;

// torch.package's own rule: dots of the package become folders.
std::string PackageRecords::recordName(const std::string& package,
                                       const std::string& resource) const {
  std::string folder = package;
  std::replace(folder.begin(), folder.end(), '.', '/');
  return folder + "/" + resource;
}

std::string PackageRecords::neighbours(const std::string& package) const {
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

void PackageRecords::requireResource(const std::string& package,
                                     const std::string& resource) const {
  const std::string record = recordName(package, resource);
  const auto require = [&] {
    if (records_->hasRecord(record)) return;
    throw PackageError("cannot load '" + resource + "' of '" + package + "' from the package " +
                       name_ + ": found no record " + record + " in it; " + neighbours(package));
  };
  if (const auto why = problemOf(require)) failToRead(package, resource, *why);
}

std::string PackageRecords::resource(const std::string& package,
                                     const std::string& resource) const {
  requireResource(package, resource);
  std::string bytes;
  const auto read = [&] {
    const std::string record = recordName(package, resource);
    bytes.resize(checkedSize(*records_, record, bytes_->size()));
    if (!bytes.empty()) records_->getRecord(record, bytes.data(), bytes.size());
  };
  if (const auto why = problemOf(read)) failToRead(package, resource, *why);
  return bytes;
}

void PackageRecords::failToRead(const std::string& package, const std::string& resource,
                                const std::string& why) const {
  throw PackageError("cannot read '" + resource + "' of '" + package + "' from the package " +
                     name_ + ": " + why + "; has the file been changed since it was opened?");
}

}  // namespace multipy::runtime
