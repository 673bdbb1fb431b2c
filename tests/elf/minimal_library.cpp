#include "elf/minimal_library.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "elf/symbol_hash.h"

namespace multipy::elf::testing {
namespace {

template <class T>
void put(std::vector<std::byte>& file, uint64_t offset, const std::vector<T>& table) {
  if (offset + table.size() * sizeof(T) > file.size())
    throw std::logic_error("a table is too large");
  if (!table.empty()) std::memcpy(file.data() + offset, table.data(), table.size() * sizeof(T));
}

std::vector<char> characters(const std::string& text) { return {text.begin(), text.end()}; }

std::string buildIdNote() {
  const Elf64_Nhdr head{.n_namesz = 4, .n_descsz = 4, .n_type = NT_GNU_BUILD_ID};
  std::string note(reinterpret_cast<const char*>(&head), sizeof(head));
  return note.append("GNU\0", 4).append("\x11\x22\x33\x44", 4);
}

}  // namespace

MinimalLibrary::MinimalLibrary() : strings(1, '\0'), notes(buildIdNote()) {
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = segmentsAt;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;

  segments.resize(3);
  segments[load] = {PT_LOAD, PF_R | PF_W, 0, 0, 0, fileSize, fileSize + 0x100, 0x1000};
  segments[note] = {PT_NOTE, PF_R, notesAt, notesAt, notesAt, notes.size(), notes.size(), 4};

  const auto info = [](int binding) {
    return static_cast<unsigned char>(ELF64_ST_INFO(binding, STT_FUNC));
  };
  symbols = {{},
             {.st_name = string("wanted"),
              .st_info = info(STB_GLOBAL),
              .st_other = 0,
              .st_shndx = SHN_UNDEF,
              .st_value = 0,
              .st_size = 0},
             {.st_name = string("given"),
              .st_info = info(STB_GLOBAL),
              .st_other = 0,
              .st_shndx = 1,
              .st_value = 0x10,
              .st_size = 4}};
  versions = {0, 2, 1};
  versionNeeds = {{{VER_NEED_CURRENT, 1, string("libother.so"), sizeof(Elf64_Verneed), 0},
                   {symbolHash(SymbolHash::SysV, "V1"), 0, 2, string("V1"), 0}}};
  // One bucket, the first hashed symbol is number 2, one filter word of all ones.
  const uint32_t hash = symbolHash(SymbolHash::Gnu, "given");
  gnuHash = {1, 2, 1, 6, 0xffffffff, 0xffffffff, 2, hash | 1};
  sysvHash = {1, 3, 2, 0, 0, 1};
  relocations = {{.r_offset = 0x10, .r_info = ELF64_R_INFO(1, R_X86_64_GLOB_DAT), .r_addend = 0}};

  const auto add = [&](int64_t tag, uint64_t value) { dynamic.push_back({tag, {value}}); };
  add(DT_NEEDED, string("libother.so"));
  add(DT_SONAME, string("libminimal.so"));
  add(DT_RUNPATH, string("$ORIGIN/../lib"));
  add(DT_GNU_HASH, gnuHashAt);
  add(DT_HASH, sysvHashAt);
  add(DT_SYMTAB, symbolsAt);
  add(DT_SYMENT, sizeof(Elf64_Sym));
  add(DT_STRTAB, stringsAt);
  add(DT_STRSZ, strings.size());
  add(DT_VERSYM, versionsAt);
  add(DT_VERNEED, versionNeedsAt);
  add(DT_VERNEEDNUM, 1);
  add(DT_RELA, relocationsAt);
  add(DT_RELASZ, sizeof(Elf64_Rela));
  add(DT_RELAENT, sizeof(Elf64_Rela));
  add(DT_NULL, 0);
  const uint64_t size = dynamic.size() * sizeof(Elf64_Dyn);
  segments[dynamicSegment] = {PT_DYNAMIC, PF_R | PF_W, dynamicAt, dynamicAt,
                              dynamicAt,  size,        size,      8};
}

uint32_t MinimalLibrary::string(const std::string& text) {
  const std::string whole = text + '\0';
  if (const auto found = strings.find(whole); found != std::string::npos)
    return static_cast<uint32_t>(found);
  strings += whole;
  return static_cast<uint32_t>(strings.size() - whole.size());
}

Elf64_Dyn& MinimalLibrary::entry(int64_t tag) {
  for (Elf64_Dyn& entry : dynamic)
    if (entry.d_tag == tag) return entry;
  throw std::logic_error("the minimal library has no entry " + std::to_string(tag));
}

void MinimalLibrary::remove(int64_t tag) {
  std::erase_if(dynamic, [&](const Elf64_Dyn& entry) { return entry.d_tag == tag; });
}

std::vector<std::byte> MinimalLibrary::bytes() const {
  std::vector<std::byte> file(fileSize);
  put(file, 0, std::vector<Elf64_Ehdr>{header});
  put(file, segmentsAt, segments);
  put(file, notesAt, characters(notes));
  put(file, gnuHashAt, gnuHash);
  put(file, sysvHashAt, sysvHash);
  put(file, symbolsAt, symbols);
  put(file, versionsAt, versions);
  put(file, versionNeedsAt, versionNeeds);
  put(file, stringsAt, characters(strings));
  put(file, relocationsAt, relocations);
  put(file, dynamicAt, dynamic);
  file.resize(truncatedTo);
  return file;
}

}  // namespace multipy::elf::testing
