#include "loader/shared_pages.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/file_descriptor.h"
#include "base/object_list.h"

namespace multipy::loader {
namespace {

/// A mapping costs the kernel some 200 bytes and a process may have 65,530
/// (vm.max_map_count). Small libraries, of which there are many, are not worth one.
constexpr uint64_t kWorthwhile = 128 << 10;

uint64_t roundDown(uint64_t value, uint64_t page) { return value / page * page; }
uint64_t roundUp(uint64_t value, uint64_t page) { return roundDown(value + page - 1, page); }

bool isReadOnlyLoad(uint32_t type, uint32_t flags) { return type == PT_LOAD && !(flags & PF_W); }

bool hasTextRelocations(const elf::SharedObject& object) {
  return object.has(DT_TEXTREL) || (object.dynamicValue(DT_FLAGS).value_or(0) & DF_TEXTREL);
}

// --- which pages have been written into

class WrittenPages {
 public:
  WrittenPages() : pagemap_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

  /// For each page of [begin, end): is it no longer the file's? False if that
  /// cannot be had.
  bool read(uintptr_t begin, uintptr_t end, uintptr_t page, std::vector<bool>& written) const {
    std::vector<uint64_t> entries((end - begin) / page);
    const auto bytes = std::as_writable_bytes(std::span(entries));
    std::size_t got = 0;
    while (pagemap_ && got < bytes.size()) {
      const auto at = static_cast<off_t>(begin / page * sizeof(uint64_t) + got);
      const ssize_t count = ::pread(pagemap_.get(), bytes.data() + got, bytes.size() - got, at);
      if (count <= 0) break;
      got += static_cast<std::size_t>(count);
    }
    if (got < bytes.size()) return false;
    written.clear();
    for (const uint64_t entry : entries) {
      written.push_back((entry & kSwapped) || ((entry & kPresent) && !(entry & kOfFile)));
    }
    return true;
  }

 private:
  // Documentation/admin-guide/mm/pagemap.rst of Linux.
  static constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62,
                            kOfFile = uint64_t{1} << 61;
  base::FileDescriptor pagemap_;
};

// --- a loaded copy

struct Segment {
  uint64_t offset, fileSize;
  uintptr_t address;
  int protection;
};

std::vector<Segment> readOnlySegments(const std::string& path) {
  std::vector<Segment> found;
  const base::ObjectList objects([&](const char* name) { return path == name; });
  for (const auto& object : objects) {
    for (const ElfW(Phdr) & header : object.headers) {
      if (!isReadOnlyLoad(header.p_type, header.p_flags)) continue;
      const int protection =
          (header.p_flags & PF_R ? PROT_READ : 0) | (header.p_flags & PF_X ? PROT_EXEC : 0);
      found.push_back({header.p_offset, header.p_filesz, object.base + header.p_vaddr, protection});
    }
  }
  return found;
}

/// Maps [begin, end), which `segment` has at `begin - segment.offset`, from `file`,
/// but for pages that have been written into. The number of bytes.
std::size_t shareRange(const Segment& segment, elf::FileRange range, int file,
                       const WrittenPages& pages, uintptr_t page) {
  const uintptr_t address = segment.address + (range.begin - segment.offset);
  std::vector<bool> written;
  if (!pages.read(address, address + (range.end - range.begin), page, written)) return 0;
  std::size_t shared = 0;
  for (std::size_t first = 0; first < written.size();) {
    std::size_t last = first;
    while (last < written.size() && !written[last]) ++last;
    const std::size_t size = (last - first) * page;
    if (size >= kWorthwhile) {
      const auto place = reinterpret_cast<void*>(address + first * page);
      const auto offset = static_cast<off_t>(range.begin + first * page);
      if (::mmap(place, size, segment.protection, MAP_PRIVATE | MAP_FIXED, file, offset) ==
          MAP_FAILED) {
        break;
      }
      shared += size;
    }
    first = last + 1;
  }
  return shared;
}

}  // namespace

std::vector<elf::FileRange> sharableRanges(const elf::SharedObject& original) {
  std::vector<elf::FileRange> sharable;
  if (hasTextRelocations(original)) return sharable;
  const uint64_t page = original.machine().maxPageSize;
  const auto add = [&](uint64_t begin, uint64_t end) {
    begin = roundUp(begin, page);
    end = roundDown(end, page);
    if (begin < end && end - begin >= kWorthwhile) sharable.push_back({begin, end});
  };
  const std::vector<elf::FileRange> edited = elf::rangesEditedInPlace(original);
  for (const elf::Segment& segment : original.segments()) {
    if (!isReadOnlyLoad(segment.type, segment.flags)) continue;
    uint64_t begin = segment.offset;
    const uint64_t end = segment.offset + segment.fileSize;
    for (const elf::FileRange& table : edited) {
      if (table.end <= begin || table.begin >= end) continue;
      add(begin, table.begin);
      begin = table.end;
    }
    add(begin, end);
  }
  return sharable;
}

std::size_t sharePages(const std::string& copy, const std::vector<elf::FileRange>& ranges,
                       const std::filesystem::path& original,
                       const std::optional<FileIdentity>& identity) {
  if (ranges.empty()) return 0;
  const base::FileDescriptor file(::open(original.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || (identity && FileIdentity::ofOpen(file.get()) != *identity)) return 0;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const WrittenPages pages;
  std::size_t shared = 0;
  for (const Segment& segment : readOnlySegments(copy)) {
    for (const elf::FileRange& range : ranges) {
      if (range.begin < segment.offset || range.end > segment.offset + segment.fileSize) continue;
      shared += shareRange(segment, range, file.get(), pages, page);
    }
  }
  return shared;
}

}  // namespace multipy::loader
