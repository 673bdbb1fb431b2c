#include "elf/section_headers.h"

#include <elf.h>

#include "elf/checked_bytes.h"

namespace multipy::elf {
namespace {

void move(Elf64_Shdr& section, const MovedTable& table) {
  section.sh_addr = table.vaddr;
  section.sh_offset = table.fileOffset;
  section.sh_size = table.size;
}

void shorten(Elf64_Shdr& section, const ShortenedVersionNeeds& needs) {
  const uint64_t cut = needs.count == 0 ? section.sh_size : needs.vaddr - needs.oldVaddr;
  section.sh_addr += cut;
  section.sh_offset += cut;
  section.sh_size -= cut;
  section.sh_info = needs.count;
}

bool update(Elf64_Shdr& section, const SectionChanges& changes) {
  if (!(section.sh_flags & SHF_ALLOC)) return false;
  const auto isAt = [&](uint64_t vaddr) { return section.sh_addr == vaddr; };
  if (section.sh_type == SHT_DYNAMIC && isAt(changes.dynamic.oldVaddr))
    move(section, changes.dynamic);
  else if (section.sh_type == SHT_STRTAB && isAt(changes.strings.oldVaddr))
    move(section, changes.strings);
  else if (section.sh_type == SHT_GNU_verneed && changes.versionNeeds &&
           isAt(changes.versionNeeds->oldVaddr))
    shorten(section, *changes.versionNeeds);
  else
    return false;
  return true;
}

// With 0xff00 sections or more, e_shnum is 0 and section 0 has the number.
uint64_t sectionCount(std::span<const std::byte> file, const Elf64_Ehdr& header) {
  if (header.e_shnum != 0 || file.size() - header.e_shoff < sizeof(Elf64_Shdr))
    return header.e_shnum;
  return element<Elf64_Shdr>(file.subspan(header.e_shoff), 0).sh_size;
}

}  // namespace

std::span<const std::byte> sectionHeaderTable(std::span<const std::byte> file) {
  const auto header = element<Elf64_Ehdr>(file, 0);
  if (header.e_shoff == 0 || header.e_shoff > file.size() ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    return {};
  const auto table = file.subspan(header.e_shoff);
  const uint64_t count = sectionCount(file, header);
  if (count > table.size() / sizeof(Elf64_Shdr)) return {};
  return table.first(count * sizeof(Elf64_Shdr));
}

void updateSectionHeaders(std::span<std::byte> file, const SectionChanges& changes) {
  const auto table = sectionHeaderTable(file);
  if (table.empty()) return;
  const auto offset = static_cast<uint64_t>(table.data() - file.data());
  for (uint64_t at = 0; at < table.size(); at += sizeof(Elf64_Shdr)) {
    auto section = element<Elf64_Shdr>(table.subspan(at), 0);
    if (update(section, changes)) store(file, offset + at, section);
  }
}

}  // namespace multipy::elf
