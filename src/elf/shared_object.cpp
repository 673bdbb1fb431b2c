// Reading goes by stages, each of which relies only on what those before it
// have checked: file header, program headers, PT_LOAD segments, dynamic
// section, string table, symbol table. From the segments on, everything is
// found by address, as ld.so finds it, and section headers are never looked at:
// they may be missing, or tell another story.
#include "elf/shared_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "elf/checked_bytes.h"
#include "elf/symbol_count.h"

namespace multipy::elf {
namespace {

void checkIdent(const Elf64_Ehdr& header, const std::string& file) {
  const auto* ident = header.e_ident;
  if (std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
    uint32_t found;
    std::memcpy(&found, ident, sizeof(found));
    fail(file, "e_ident[EI_MAG]", found, "0x464c457f (\"\\x7f\" \"ELF\"): this is no ELF file");
  }
  if (ident[EI_CLASS] != ELFCLASS64)
    fail(file, "e_ident[EI_CLASS]", ident[EI_CLASS], "0x2 (64-bit)");
  if (ident[EI_DATA] != ELFDATA2LSB)
    fail(file, "e_ident[EI_DATA]", ident[EI_DATA], "0x1 (little-endian)");
  if (ident[EI_VERSION] != EV_CURRENT) fail(file, "e_ident[EI_VERSION]", ident[EI_VERSION], "0x1");
  if (ident[EI_OSABI] != ELFOSABI_SYSV && ident[EI_OSABI] != ELFOSABI_GNU)
    fail(file, "e_ident[EI_OSABI]", ident[EI_OSABI], "0x0 (System V) or 0x3 (GNU/Linux)");
}

void checkHeader(const Elf64_Ehdr& header, const std::string& file, const Machine& machine) {
  checkIdent(header, file);
  if (header.e_type != ET_DYN) fail(file, "e_type", header.e_type, "0x3 (a shared object)");
  if (header.e_machine != machine.elfMachine)
    fail(file, "e_machine", header.e_machine,
         hex(machine.elfMachine) + " (" + std::string(machine.name) + ")");
  if (header.e_version != EV_CURRENT) fail(file, "e_version", header.e_version, "0x1");
  if (header.e_phentsize != sizeof(Elf64_Phdr))
    fail(file, "e_phentsize", header.e_phentsize, hex(sizeof(Elf64_Phdr)));
  // PN_XNUM would mean: the number is in section header 0. Neither the kernel
  // nor glibc looks there, so such a library cannot be loaded in any case.
  if (header.e_phnum == 0 || header.e_phnum == PN_XNUM)
    fail(file, "e_phnum", header.e_phnum, "at least 1 and less than 0xffff (PN_XNUM)");
}

Segment toSegment(const Elf64_Phdr& p) {
  return {p.p_type, p.p_flags, p.p_offset, p.p_vaddr, p.p_paddr, p.p_filesz, p.p_memsz, p.p_align};
}

// Where the expectation holds: ends each one about a program header.
std::string inProgramHeader(std::size_t index) {
  return " (program header " + std::to_string(index) + ")";
}

}  // namespace

SharedObject SharedObject::read(const std::filesystem::path& file, const Machine& machine) {
  return {file.string(), FileBytes::map(file), machine};
}

SharedObject SharedObject::parse(std::vector<std::byte> bytes, std::string name,
                                 const Machine& machine) {
  return {std::move(name), FileBytes::own(std::move(bytes)), machine};
}

SharedObject SharedObject::view(std::span<const std::byte> bytes, std::string name,
                                const Machine& machine) {
  return {std::move(name), FileBytes{nullptr, bytes}, machine};
}

SharedObject::SharedObject(std::string name, FileBytes file, const Machine& machine)
    : name_(std::move(name)), file_(std::move(file)), machine_(&machine) {
  readSegments();
  checkLoadSegments();
  readDynamic();
  locateStrings();
  locateSymbols();
  readVersions();
  readBuildId();
}

void SharedObject::readSegments() {
  const CheckedBytes file(bytes(), name_);
  if (file.size() < sizeof(Elf64_Ehdr))
    fail(name_, "file size", file.size(),
         "at least that of an ELF header, " + hex(sizeof(Elf64_Ehdr)));
  const auto header = file.load<Elf64_Ehdr>(0, "e_ident");
  checkHeader(header, name_, *machine_);
  const auto table = file.range(header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr), "e_phoff");
  segments_.reserve(header.e_phnum);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = toSegment(element<Elf64_Phdr>(table, i));
    if (segment.offset > file.size())
      fail(name_, "p_offset", segment.offset,
           "at most the file's size, " + hex(file.size()) + inProgramHeader(i));
    if (segment.fileSize > file.size() - segment.offset)
      fail(name_, "p_filesz", segment.fileSize,
           "at most " + hex(file.size() - segment.offset) +
               ", the bytes from p_offset to the file's end" + inProgramHeader(i));
    segments_.push_back(segment);
  }
}

// What glibc refuses, or assumes and does not check.
void SharedObject::checkLoadSegments() const {
  uint64_t end = 0;
  bool any = false;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& s = segments_[i];
    if (s.type != PT_LOAD) continue;
    any = true;
    if (s.fileSize > s.memorySize)
      fail(name_, "p_filesz", s.fileSize,
           "at most p_memsz, " + hex(s.memorySize) + inProgramHeader(i));
    // Half of the address space, so that no sum of addresses and sizes wraps.
    constexpr uint64_t limit = uint64_t{1} << 63;
    if (s.vaddr >= limit)
      fail(name_, "p_vaddr", s.vaddr, "less than " + hex(limit) + inProgramHeader(i));
    if (s.memorySize >= limit - s.vaddr)
      fail(name_, "p_memsz", s.memorySize, "to end below " + hex(limit) + inProgramHeader(i));
    if (s.align > 1 && !std::has_single_bit(s.align))
      fail(name_, "p_align", s.align, "a power of two" + inProgramHeader(i));
    if (s.align > 1 && ((s.vaddr - s.offset) & (s.align - 1)) != 0)
      fail(name_, "p_vaddr", s.vaddr,
           "the same as p_offset, " + hex(s.offset) + ", modulo p_align, " + hex(s.align) +
               inProgramHeader(i));
    if (s.vaddr < end)
      fail(name_, "p_vaddr", s.vaddr,
           "at least " + hex(end) + ", where the PT_LOAD before it ends" + inProgramHeader(i));
    end = s.vaddr + s.memorySize;
  }
  if (!any) fail(name_, "PT_LOAD", "absent", "at least one segment to load");
}

void SharedObject::readDynamic() {
  const Segment* segment = nullptr;
  for (const Segment& s : segments_)
    if (s.type == PT_DYNAMIC) segment = &s;
  if (!segment)
    fail(name_, "PT_DYNAMIC", "absent", "a dynamic section: static objects cannot be loaded");
  const auto entries = table(segment->vaddr, segment->fileSize, "PT_DYNAMIC");
  const uint64_t count = entries.size() / sizeof(Elf64_Dyn);
  for (uint64_t i = 0; i < count; ++i) {
    const auto entry = element<Elf64_Dyn>(entries, i);
    if (entry.d_tag == DT_NULL) return;
    dynamic_.push_back({entry.d_tag, entry.d_un.d_val});
  }
  fail(name_, "PT_DYNAMIC", count, "a DT_NULL among as many entries");
}

void SharedObject::locateStrings() {
  const auto vaddr = dynamicValue(DT_STRTAB);
  if (!vaddr) fail(name_, "DT_STRTAB", "absent", "a dynamic string table");
  const auto size = dynamicValue(DT_STRSZ);
  if (!size) fail(name_, "DT_STRSZ", "absent", "the size of the dynamic string table");
  stringTable_ = table(*vaddr, *size, "DT_STRSZ");
  soname_ = dynamicString(DT_SONAME, "DT_SONAME");
  rpath_ = dynamicString(DT_RPATH, "DT_RPATH");
  runpath_ = dynamicString(DT_RUNPATH, "DT_RUNPATH");
  for (const DynamicEntry& entry : dynamic_)
    if (entry.tag == DT_NEEDED) string(entry.value, "DT_NEEDED");
}

void SharedObject::locateSymbols() {
  const auto vaddr = dynamicValue(DT_SYMTAB);
  if (!vaddr) fail(name_, "DT_SYMTAB", "absent", "a dynamic symbol table");
  const auto entrySize = dynamicValue(DT_SYMENT).value_or(sizeof(Elf64_Sym));
  if (entrySize != sizeof(Elf64_Sym)) fail(name_, "DT_SYMENT", entrySize, hex(sizeof(Elf64_Sym)));
  symbolCount_ = countSymbols(*this);
  symbolTable_ = table(*vaddr, uint64_t{symbolCount_} * sizeof(Elf64_Sym), "DT_SYMTAB");
}

void SharedObject::readVersions() {
  if (const auto vaddr = dynamicValue(DT_VERSYM))
    versionTable_ = table(*vaddr, uint64_t{symbolCount_} * sizeof(Elf64_Half), "DT_VERSYM");
  else if (has(DT_VERNEED) || has(DT_VERDEF))
    fail(name_, "DT_VERSYM", "absent",
         "a version for each symbol, since there is DT_VERNEED or DT_VERDEF");
  versionNeeds_ = readVersionNeeds(*this);
  checkVersions(*this, versionNeeds_, versionTable_);
}

void SharedObject::readBuildId() {
  const CheckedBytes file(bytes(), name_);
  for (const Segment& s : segments_) {
    if (s.type != PT_NOTE) continue;
    const CheckedBytes notes(bytes().subspan(s.offset, s.fileSize), name_);
    const uint64_t alignment = s.align == 8 ? 8 : 4;
    for (uint64_t at = 0; notes.size() - at >= sizeof(Elf64_Nhdr);) {
      const auto note = notes.load<Elf64_Nhdr>(at, "PT_NOTE");
      const uint64_t nameAt = at + sizeof(Elf64_Nhdr);
      const uint64_t contentAt = roundUp(nameAt + note.n_namesz, alignment);
      const auto name = notes.range(nameAt, note.n_namesz, 1, "n_namesz");
      const auto content = notes.range(contentAt, note.n_descsz, 1, "n_descsz");
      if (note.n_type == NT_GNU_BUILD_ID && name.size() == sizeof(ELF_NOTE_GNU) &&
          std::memcmp(name.data(), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
        buildId_ = content;
        return;
      }
      at = std::min(roundUp(contentAt + note.n_descsz, alignment), notes.size());
    }
  }
}

std::vector<std::string_view> SharedObject::needed() const {
  std::vector<std::string_view> names;
  for (const DynamicEntry& entry : dynamic_)
    if (entry.tag == DT_NEEDED) names.push_back(string(entry.value, "DT_NEEDED"));
  return names;
}

std::optional<uint64_t> SharedObject::dynamicValue(int64_t tag) const noexcept {
  for (auto entry = dynamic_.rbegin(); entry != dynamic_.rend(); ++entry)
    if (entry->tag == tag) return entry->value;
  return std::nullopt;
}

Symbol SharedObject::symbol(uint32_t index) const {
  if (index == 0 || index >= symbolCount_)
    throw runtime::InvalidArgument("symbol " + std::to_string(index) + " of " + name_ +
                                   " does not exist: indices go from 1 to " +
                                   std::to_string(symbolCount_ - 1));
  const auto entry = element<Elf64_Sym>(symbolTable_, index);
  return {.name = string(entry.st_name, "st_name"),
          .binding = static_cast<uint8_t>(ELF64_ST_BIND(entry.st_info)),
          .type = static_cast<uint8_t>(ELF64_ST_TYPE(entry.st_info)),
          .defined = entry.st_shndx != SHN_UNDEF,
          .value = entry.st_value,
          .size = entry.st_size,
          .index = index};
}

uint64_t SharedObject::fileOffset(uint64_t vaddr, uint64_t size, const char* field) const {
  for (const Segment& s : segments_) {
    if (s.type != PT_LOAD || vaddr < s.vaddr || vaddr - s.vaddr > s.fileSize) continue;
    const uint64_t within = vaddr - s.vaddr;
    if (size <= s.fileSize - within && (size != 0 || within < s.fileSize)) return s.offset + within;
  }
  fail(name_, field, vaddr, "an address with " + hex(size) + " bytes of the file behind it");
}

std::string_view SharedObject::string(uint64_t offset, const char* field) const {
  if (offset < stringTable_.size()) {
    const auto* start = reinterpret_cast<const char*>(stringTable_.data()) + offset;
    if (const void* end = std::memchr(start, '\0', stringTable_.size() - offset))
      return {start, static_cast<const char*>(end)};
  }
  fail(name_, field, offset,
       "the offset of a string that ends within DT_STRSZ, " + hex(stringTable_.size()));
}

std::string_view SharedObject::dynamicString(int64_t tag, const char* field) const {
  const auto offset = dynamicValue(tag);
  return offset ? string(*offset, field) : std::string_view();
}

std::span<const std::byte> SharedObject::table(uint64_t vaddr, uint64_t size,
                                               const char* field) const {
  return bytes().subspan(fileOffset(vaddr, size, field), size);
}

}  // namespace multipy::elf
