// One field wrong at a time: each is refused with the name of that field, the
// value found, and what it had to be.
#include <gtest/gtest.h>

#include <functional>

#include "elf/minimal_library.h"
#include "elf/shared_object.h"
#include "multipy/runtime/Exception.h"

namespace multipy::elf::testing {
namespace {

using Library = MinimalLibrary;

struct Fault {
  const char* name;
  const char* field;
  std::string found;
  std::function<void(Library&)> damage;
};
std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.name; }

const Fault faults[] = {
    {"EmptyFile", "file size", "0x0", [](Library& l) { l.truncatedTo = 0; }},
    {"HalfAHeader", "file size", "0x3f", [](Library& l) { l.truncatedTo = 63; }},
    {"NotElf", "e_ident[EI_MAG]", "0x464c4500", [](Library& l) { l.header.e_ident[0] = 0; }},
    {"Class32", "e_ident[EI_CLASS]", "0x1", [](Library& l) { l.header.e_ident[EI_CLASS] = 1; }},
    {"BigEndian", "e_ident[EI_DATA]", "0x2", [](Library& l) { l.header.e_ident[EI_DATA] = 2; }},
    {"IdentVersion", "e_ident[EI_VERSION]", "0x9",
     [](Library& l) { l.header.e_ident[EI_VERSION] = 9; }},
    {"OtherSystem", "e_ident[EI_OSABI]", "0x9",
     [](Library& l) { l.header.e_ident[EI_OSABI] = ELFOSABI_FREEBSD; }},
    {"ObjectFile", "e_type", "0x1", [](Library& l) { l.header.e_type = ET_REL; }},
    {"OtherMachine", "e_machine", "0xb7", [](Library& l) { l.header.e_machine = EM_AARCH64; }},
    {"HeaderVersion", "e_version", "0x2", [](Library& l) { l.header.e_version = 2; }},
    {"SegmentEntrySize", "e_phentsize", "0x20", [](Library& l) { l.header.e_phentsize = 32; }},
    {"NoSegments", "e_phnum", "0x0", [](Library& l) { l.header.e_phnum = 0; }},
    {"ExtendedSegmentCount", "e_phnum", "0xffff", [](Library& l) { l.header.e_phnum = PN_XNUM; }},
    {"TooManySegments", "e_phoff", "0x40", [](Library& l) { l.header.e_phnum = 0x1000; }},
    {"SegmentsBehindTheEnd", "e_phoff", "0xffffffffffffffff",
     [](Library& l) { l.header.e_phoff = ~0ull; }},

    {"SegmentBehindTheEnd", "p_offset", "0x901",
     [](Library& l) { l.segments[Library::note].p_offset = Library::fileSize + 1; }},
    {"SegmentTooLong", "p_filesz", "0x901",
     [](Library& l) { ++l.segments[Library::load].p_filesz; }},
    {"SegmentSizeWraps", "p_filesz", "0xffffffffffffffff",
     [](Library& l) { l.segments[Library::note].p_filesz = ~0ull; }},
    {"MoreInFileThanInMemory", "p_filesz", "0x900",
     [](Library& l) { l.segments[Library::load].p_memsz = 1; }},
    {"AddressTooHigh", "p_vaddr", "0x8000000000000000",
     [](Library& l) { l.segments[Library::load].p_vaddr = 1ull << 63; }},
    {"MemorySizeWraps", "p_memsz", "0xfffffffffffff000",
     [](Library& l) { l.segments[Library::load].p_memsz = ~0xfffull; }},
    {"AlignmentIsNoPowerOfTwo", "p_align", "0x1800",
     [](Library& l) { l.segments[Library::load].p_align = 0x1800; }},
    {"AddressNotCongruent", "p_vaddr", "0x10",
     [](Library& l) { l.segments[Library::load].p_vaddr = 0x10; }},
    {"LoadSegmentsOverlap", "p_vaddr", "0x0",
     [](Library& l) { l.segments[Library::note] = l.segments[Library::load]; }},
    {"NothingToLoad", "PT_LOAD", "absent",
     [](Library& l) { l.segments[Library::load].p_type = PT_NULL; }},

    {"NoDynamicSegment", "PT_DYNAMIC", "absent",
     [](Library& l) { l.segments[Library::dynamicSegment].p_type = PT_NULL; }},
    {"DynamicNotInTheFile", "PT_DYNAMIC", "0x900",
     [](Library& l) { l.segments[Library::dynamicSegment].p_vaddr = Library::fileSize; }},
    {"DynamicReachesOut", "PT_DYNAMIC", "0x700",
     [](Library& l) {
       l.segments[Library::dynamicSegment].p_filesz = 0x201;
       l.segments[Library::dynamicSegment].p_offset = 0;
     }},
    {"DynamicWithoutEnd", "PT_DYNAMIC", "0x10",
     [](Library& l) { l.entry(DT_NULL).d_tag = DT_DEBUG; }},
    {"NoStringTable", "DT_STRTAB", "absent", [](Library& l) { l.remove(DT_STRTAB); }},
    {"NoStringSize", "DT_STRSZ", "absent", [](Library& l) { l.remove(DT_STRSZ); }},
    {"StringsReachOut", "DT_STRSZ", "0x500",
     [](Library& l) { l.entry(DT_STRSZ).d_un.d_val = 0x401; }},
    {"StringsNowhere", "DT_STRSZ", "0x80000",
     [](Library& l) { l.entry(DT_STRTAB).d_un.d_ptr = 0x80000; }},
    {"SonameBehindStrings", "DT_SONAME", "0x1000",
     [](Library& l) { l.entry(DT_SONAME).d_un.d_val = 0x1000; }},
    {"NeededBehindStrings", "DT_NEEDED", "0xffffffffffffffff",
     [](Library& l) { l.entry(DT_NEEDED).d_un.d_val = ~0ull; }},
    {"RunPathWithoutEnd", "DT_RUNPATH", "0x3",
     [](Library& l) {
       l.entry(DT_RUNPATH).d_un.d_val = 3;
       l.entry(DT_STRSZ).d_un.d_val = 5;
       l.entry(DT_SONAME).d_un.d_val = l.entry(DT_NEEDED).d_un.d_val = 0;
     }},

    {"NoSymbolTable", "DT_SYMTAB", "absent", [](Library& l) { l.remove(DT_SYMTAB); }},
    {"SymbolEntrySize", "DT_SYMENT", "0x10",
     [](Library& l) { l.entry(DT_SYMENT).d_un.d_val = 16; }},
    {"SymbolsReachOut", "DT_SYMTAB", "0x8f0",
     [](Library& l) { l.entry(DT_SYMTAB).d_un.d_ptr = 0x8f0; }},
    {"SysvHashNowhere", "DT_HASH", "0x8fc",
     [](Library& l) { l.entry(DT_HASH).d_un.d_ptr = 0x8fc; }},
    {"SysvTooManyBuckets", "DT_HASH", "0x2c8", [](Library& l) { l.sysvHash[0] = 0xffffffff; }},
    {"SysvTooManyChains", "DT_HASH", "0x2c8", [](Library& l) { l.sysvHash[1] = 0xffffffff; }},
    {"SysvBucketNamesNoSymbol", "DT_HASH", "0x3", [](Library& l) { l.sysvHash[2] = 3; }},
    {"SysvChainNamesNoSymbol", "DT_HASH", "0x7", [](Library& l) { l.sysvHash[5] = 7; }},
    {"HashTablesDisagree", "DT_HASH", "0x2",
     [](Library& l) {
       l.sysvHash = {1, 2, 1, 0, 0};
     }},
    {"GnuHashNowhere", "DT_GNU_HASH", "0x8f8",
     [](Library& l) { l.entry(DT_GNU_HASH).d_un.d_ptr = 0x8f8; }},
    {"GnuFilterSize", "DT_GNU_HASH", "0x3", [](Library& l) { l.gnuHash[2] = 3; }},
    {"GnuFilterEmpty", "DT_GNU_HASH", "0x0", [](Library& l) { l.gnuHash[2] = 0; }},
    {"GnuFilterReachesOut", "DT_GNU_HASH", "0x400000250",
     [](Library& l) { l.gnuHash[2] = 1u << 31; }},
    {"GnuTooManyBuckets", "DT_GNU_HASH", "0x258", [](Library& l) { l.gnuHash[0] = 0xffffffff; }},
    {"GnuBucketBelowHashed", "DT_GNU_HASH", "0x1", [](Library& l) { l.gnuHash[6] = 1; }},
    {"GnuBucketNowhere", "DT_GNU_HASH", "0x40000024c",
     [](Library& l) { l.gnuHash[6] = 0xfffffffe; }},
    {"RelocationsNowhere", "DT_RELA", "0x2000",
     [](Library& l) {
       l.remove(DT_HASH);
       l.remove(DT_GNU_HASH);
       l.entry(DT_RELA).d_un.d_ptr = 0x2000;
     }},
    {"RelocationNamesNoSymbol", "DT_SYMTAB", "0x300",
     [](Library& l) {
       l.remove(DT_HASH);
       l.remove(DT_GNU_HASH);
       l.relocations[0].r_info = ELF64_R_INFO(0xfffffffeull, 1);
     }},
    {"RelocationSymbolTooLarge", "DT_SYMTAB", "0x100000000",
     [](Library& l) {
       l.remove(DT_HASH);
       l.remove(DT_GNU_HASH);
       l.relocations[0].r_info = ELF64_R_INFO(0xffffffffull, 1);
     }},

    {"VersionsReachOut", "DT_VERSYM", "0x8fb",
     [](Library& l) { l.entry(DT_VERSYM).d_un.d_ptr = 0x8fb; }},
    {"NeedsWithoutVersions", "DT_VERSYM", "absent", [](Library& l) { l.remove(DT_VERSYM); }},
    {"VersionNeedNowhere", "DT_VERNEED", "0x8f8",
     [](Library& l) { l.entry(DT_VERNEED).d_un.d_ptr = 0x8f8; }},
    {"VersionNeedVersion", "vn_version", "0x2",
     [](Library& l) { l.versionNeeds[0].need.vn_version = 2; }},
    {"VersionNeedFile", "vn_file", "0xfff",
     [](Library& l) { l.versionNeeds[0].need.vn_file = 0xfff; }},
    {"VersionNeedNextTooSmall", "vn_next", "0x4",
     [](Library& l) { l.versionNeeds[0].need.vn_next = 4; }},
    {"VersionNeedNextNowhere", "DT_VERNEED", "0x10000043f",
     [](Library& l) { l.versionNeeds[0].need.vn_next = 0xffffffff; }},
    {"VersionAuxNowhere", "vn_aux", "0x1440",
     [](Library& l) { l.versionNeeds[0].need.vn_aux = 0x1000; }},
    {"VersionName", "vna_name", "0xfff",
     [](Library& l) { l.versionNeeds[0].version.vna_name = 0xfff; }},
    {"VersionAuxNextTooSmall", "vna_next", "0x1",
     [](Library& l) {
       l.versionNeeds[0].need.vn_cnt = 2;
       l.versionNeeds[0].version.vna_next = 1;
     }},

    {"VersionOfNoOne", "DT_VERSYM", "0x3", [](Library& l) { l.versions[2] = 3; }},
    // Some versions of patchelf move the definitions and leave DT_VERDEF behind.
    {"DefinitionsNowhere", "DT_VERDEF", "0x8f8",
     [](Library& l) {
       l.entry(DT_VERNEEDNUM) = {DT_VERDEF, {0x8f8}};
     }},
    {"DefinitionsElsewhere", "vd_version", "0x0",
     [](Library& l) {
       l.entry(DT_VERNEEDNUM) = {DT_VERDEF, {Library::fileSize - 0x40}};
     }},

    {"NoteNameTooLong", "n_namesz", "0xc", [](Library& l) { l.notes[0] = 0x40; }},
    {"NoteContentTooLong", "n_descsz", "0x10", [](Library& l) { l.notes[4] = 0x40; }},
};

class DamagedFile : public ::testing::TestWithParam<Fault> {};

TEST_P(DamagedFile, IsRefusedWithTheFieldAndItsValue) {
  MinimalLibrary library;
  GetParam().damage(library);
  try {
    SharedObject::parse(library.bytes(), "damaged.so", Machine::x86_64());
    FAIL() << "it was accepted";
  } catch (const runtime::ElfError& error) {
    EXPECT_EQ(error.file(), "damaged.so");
    EXPECT_EQ(error.field(), GetParam().field) << error.what();
    EXPECT_EQ(error.found(), GetParam().found) << error.what();
    EXPECT_FALSE(error.expected().empty());
    EXPECT_NE(
        std::string(error.what()).find("damaged.so: " + error.field() + " is " + error.found()),
        std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(With, DamagedFile, ::testing::ValuesIn(faults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(DamagedFiles, CutAnywhereAreRefusedOrRead) {
  const auto whole = MinimalLibrary().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(SharedObject::parse(part, "cut.so", Machine::x86_64()), runtime::ElfError) << size;
  }
}

TEST(DamagedFiles, SymbolNamesAreCheckedWhenAskedFor) {
  MinimalLibrary library;
  library.symbols[1].st_name = 0x7777;
  const auto object = SharedObject::parse(library.bytes(), "damaged.so", Machine::x86_64());
  EXPECT_EQ(object.symbol(2).name, "given");
  try {
    object.symbol(1);
    FAIL();
  } catch (const runtime::ElfError& error) {
    EXPECT_EQ(error.field(), "st_name");
    EXPECT_EQ(error.found(), "0x7777");
  }
}

}  // namespace
}  // namespace multipy::elf::testing
