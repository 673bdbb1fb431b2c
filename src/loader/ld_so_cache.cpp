// The format "glibc-ld.so.cache1.1" (glibc 2.2 and later, sysdeps/generic/dl-cache.h):
// a header, `count` entries, then the strings. Offsets of strings count from the
// header. ldconfig may put the older format "ld.so-1.7.0" in front; the newer
// header follows it at the next multiple of 8.
#include "loader/ld_so_cache.h"

#include <elf.h>
#include <fcntl.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/file_io.h"

namespace multipy::loader {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::string_view kOldMagic = "ld.so-1.7.0";
constexpr std::size_t kLimit = 64 << 20;

struct Header {
  char magic[20];
  uint32_t count;
  uint32_t stringBytes;
  uint32_t unused[5];
};
struct Entry {
  int32_t flags;
  uint32_t soname;
  uint32_t path;
  uint32_t osVersion;
  uint64_t hwcap;
};
struct OldHeader {
  char magic[12];
  uint32_t count;
};
constexpr std::size_t kOldEntryBytes = 12;

/// How ldconfig marks libraries of glibc 2 for a machine; nothing if unknown.
std::optional<int32_t> flagsOf(const elf::Machine& machine) {
  switch (machine.elfMachine) {
    case EM_X86_64:
      return 0x0303;
    case EM_AARCH64:
      return 0x0a03;
    default:
      return std::nullopt;
  }
}

template <typename T>
std::optional<T> at(std::span<const std::byte> bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<std::string_view> stringAt(std::span<const std::byte> bytes, std::size_t offset) {
  if (offset >= bytes.size()) return std::nullopt;
  const auto* text = reinterpret_cast<const char*>(bytes.data() + offset);
  const std::size_t length = ::strnlen(text, bytes.size() - offset);
  if (length == bytes.size() - offset) return std::nullopt;  // not terminated
  return std::string_view(text, length);
}

/// The part that begins with the newer header; empty if there is none.
std::span<const std::byte> newerPart(std::span<const std::byte> bytes) {
  const auto old = at<OldHeader>(bytes, 0);
  if (!old || std::memcmp(old->magic, kOldMagic.data(), kOldMagic.size()) != 0) return bytes;
  const uint64_t end = sizeof(OldHeader) + uint64_t{old->count} * kOldEntryBytes;
  const uint64_t next = (end + 7) & ~uint64_t{7};
  return next < bytes.size() ? bytes.subspan(next) : std::span<const std::byte>();
}

}  // namespace

LdSoCache LdSoCache::parse(std::span<const std::byte> bytes, const elf::Machine& machine) {
  LdSoCache cache;
  bytes = newerPart(bytes);
  const auto header = at<Header>(bytes, 0);
  const auto flags = flagsOf(machine);
  if (!header || !flags || std::memcmp(header->magic, kMagic.data(), kMagic.size()) != 0) {
    return cache;
  }
  for (uint32_t i = 0; i < header->count; ++i) {
    const auto entry = at<Entry>(bytes, sizeof(Header) + uint64_t{i} * sizeof(Entry));
    if (!entry) break;
    // Variants for certain processors (hwcap) exist beside a plain one, which is
    // enough to see what the library uses; ld.so picks the variant when it loads.
    if (entry->flags != *flags || entry->hwcap != 0) continue;
    const auto soname = stringAt(bytes, entry->soname);
    const auto path = stringAt(bytes, entry->path);
    if (soname && path) cache.files_.emplace(*soname, *path);
  }
  return cache;
}

LdSoCache LdSoCache::read(const std::filesystem::path& file, const elf::Machine& machine) {
  base::FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return {};
  const auto text = base::readAll(opened.get(), kLimit);
  return text ? parse(std::as_bytes(std::span(*text)), machine) : LdSoCache();
}

std::filesystem::path LdSoCache::find(const std::string& soname) const {
  const auto found = files_.find(soname);
  return found == files_.end() ? std::filesystem::path() : std::filesystem::path(found->second);
}

}  // namespace multipy::loader
