#include "loader/library_facts.h"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "loader/c_api_names.h"
#include "loader/isolation_policy.h"
#include "loader/shared_pages.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

constexpr std::array<std::string_view, 8> kTorchNamespaces = {
    "N2at", "N3c10", "N6caffe2", "N5torch", "K2at", "K3c10", "K6caffe2", "K5torch"};

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(byte) >> 4];
    text += "0123456789abcdef"[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

bool isTorchLibrary(std::string_view name) {
  return name.starts_with("libtorch") || name.starts_with("libc10");
}

/// Anything in torch's namespaces, mangled: at, c10, caffe2, torch.
bool isTorchName(std::string_view name) {
  if (!name.starts_with("_Z")) return false;
  return std::any_of(kTorchNamespaces.begin(), kTorchNamespaces.end(), [&](std::string_view space) {
    return name.find(space) != std::string_view::npos;
  });
}

// (Not type information and tables of virtual functions, which are alike wherever they are.)
bool isInlineVariable(const elf::SharedObject& object, const elf::Symbol& symbol) {
  if (!symbol.defined || (symbol.binding != STB_WEAK && symbol.binding != STB_GNU_UNIQUE))
    return false;
  if (symbol.type == STT_TLS) return true;
  if (symbol.type != STT_OBJECT) return false;
  bool isWritable = false;
  for (const elf::Segment& segment : object.segments()) {
    if (symbol.value < segment.vaddr || symbol.value - segment.vaddr >= segment.memorySize)
      continue;
    if (segment.type == PT_GNU_RELRO) return false;
    if (segment.type == PT_LOAD) isWritable = (segment.flags & PF_W) != 0;
  }
  return isWritable;
}

LibraryFacts factsOf(const elf::SharedObject& object) {
  LibraryFacts facts;
  facts.soname = object.soname();
  facts.rpath = object.rpath();
  facts.runpath = object.runpath();
  for (const auto& entry : object.dynamic()) {
    if (entry.tag == DT_FLAGS_1 && (entry.value & DF_1_NODEFLIB)) facts.noDefaultLibraries = true;
  }
  for (const auto name : object.needed()) facts.needed.emplace_back(name);
  facts.buildId = hexadecimal(object.buildId());
  facts.sharable = sharableRanges(object);
  facts.cApiUse = IsolationPolicy::whyUsesCApi(object);
  facts.usesTorch = std::any_of(facts.needed.begin(), facts.needed.end(), isTorchLibrary);
  for (uint32_t index = 1; index < object.symbolCount(); ++index) {
    const elf::Symbol symbol = object.symbol(index);
    if (!symbol.defined && isTorchName(symbol.name)) facts.usesTorch = true;
    if (isInlineVariable(object, symbol)) facts.inlineVariables.emplace(symbol.name);
    if (!isCApiName(symbol.name)) continue;
    (symbol.defined ? facts.cApiNamesDefined : facts.cApiNamesUsed).emplace(symbol.name);
  }
  return facts;
}

FileIdentity identityOf(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

}  // namespace

FileIdentity FileIdentity::of(const std::filesystem::path& file) {
  struct stat status;
  if (::stat(file.c_str(), &status)) {
    throw runtime::LoadError(file.string() + ": cannot open shared object file: " +
                             std::system_category().message(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    throw runtime::LoadError(file.string() +
                             ": cannot load as a library: it is not a regular file");
  }
  return identityOf(status);
}

FileIdentity FileIdentity::ofOpen(int descriptor) {
  struct stat status;
  return ::fstat(descriptor, &status) ? FileIdentity{.size = -1} : identityOf(status);
}

std::string FileIdentity::text() const {
  return "device " + std::to_string(device) + " inode " + std::to_string(inode) + " size " +
         std::to_string(size) + " modified " + std::to_string(seconds) + "." +
         std::to_string(nanoseconds);
}

Inspected LibraryCatalogue::inspect(const std::filesystem::path& file) {
  Inspected inspected;
  inspected.identity = FileIdentity::of(file);
  auto& known = facts_[inspected.identity];
  if (!known) {
    inspected.object = contents(file, inspected.identity);
    known = std::make_shared<const LibraryFacts>(factsOf(*inspected.object));
  }
  inspected.facts = known;
  return inspected;
}

std::shared_ptr<const elf::SharedObject> LibraryCatalogue::contents(
    const std::filesystem::path& file, const FileIdentity& identity) {
  auto object = std::make_shared<const elf::SharedObject>(elf::SharedObject::read(file));
  if (FileIdentity::of(file) != identity) {
    throw runtime::LoadError(file.string() +
                             ": cannot make a private copy: the file was changed "
                             "while it was being loaded; load it again when it is at rest");
  }
  return object;
}

}  // namespace multipy::loader
