// What an edited copy consists of, byte by byte. (loaded_copies_test.cpp and the
// others of elf_toolchains_test show that such copies work.)
#include "elf/edited_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "elf/checked_bytes.h"
#include "elf/library_names.h"
#include "elf/minimal_library.h"
#include "elf/workshop.h"

namespace multipy::elf::testing {
namespace {

using Names = std::vector<std::string_view>;

SharedObject parse(const MinimalLibrary& library, const Machine& machine = Machine::x86_64()) {
  return SharedObject::parse(library.bytes(), "minimal.so", machine);
}

SharedObject edited(const SharedObject& original, Edits edits) {
  return SharedObject::parse(edit(original, completed(std::move(edits))).bytes, "copy.so",
                             original.machine());
}

Segment last(const SharedObject& object, uint32_t type) {
  Segment found;
  for (const Segment& s : object.segments())
    if (s.type == type) found = s;
  return found;
}

TEST(EditedCopy, HasOneMoreSegmentBehindTheLast) {
  const auto original = parse({});
  const auto copy = edited(original, {.soname = "libnew.so"});
  ASSERT_EQ(copy.segments().size(), original.segments().size() + 1);
  const auto blob = last(copy, PT_LOAD);
  EXPECT_EQ(blob.offset, 0x1000u);  // the file ends at 0x900
  EXPECT_EQ(blob.vaddr, 0x1000u);   // the memory at 0xa00
  EXPECT_EQ(blob.align, 0x1000u);
  EXPECT_EQ(blob.flags, uint32_t{PF_R | PF_W});
  EXPECT_EQ(blob.offset + blob.fileSize, copy.bytes().size());
  EXPECT_EQ(blob.fileSize, blob.memorySize);
  const auto dynamic = last(copy, PT_DYNAMIC);
  EXPECT_GE(dynamic.offset, blob.offset);
  EXPECT_EQ(dynamic.offset - blob.offset, dynamic.vaddr - blob.vaddr);
  EXPECT_EQ(last(copy, PT_NOTE).offset, uint64_t{MinimalLibrary::notesAt});
  EXPECT_EQ(copy.buildId().size(), 4u);
}

TEST(EditedCopy, ChangesNothingOfTheOriginalButTheFileHeader) {
  const auto original = parse({});
  const auto copy = edited(original, {.soname = "libnew.so", .needed = {{"libx.so", "liby.so"}}});
  const auto before = original.bytes().subspan(sizeof(Elf64_Ehdr));
  const auto after = copy.bytes().subspan(sizeof(Elf64_Ehdr), before.size());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
}

TEST(EditedCopy, TellsWhereItMayDifferFromTheOriginal) {
  const auto original = parse({});
  const auto ranges = rangesEditedInPlace(original);
  const auto copy =
      edited(original, {.soname = "libnew.so",
                        .needed = {{"libx.so", "liby.so"}},
                        .renameUndefined = [](std::string_view) { return std::string("other"); }});
  const auto before = original.bytes(), after = copy.bytes();
  bool differs = false;
  for (std::size_t at = 0; at < before.size(); ++at) {
    if (before[at] == after[at]) continue;
    differs = true;
    EXPECT_TRUE(std::any_of(ranges.begin(), ranges.end(),
                            [&](FileRange range) { return at >= range.begin && at < range.end; }))
        << "at " << at;
  }
  EXPECT_TRUE(differs);
  ASSERT_GE(ranges.size(), 2u);
  EXPECT_EQ(ranges.front(), (FileRange{0, sizeof(Elf64_Ehdr)}));
}

TEST(EditedCopy, IsAlignedForItsMachine) {
  MinimalLibrary library;
  library.header.e_machine = EM_AARCH64;
  const auto copy = edited(parse(library, Machine::aarch64()), {});
  EXPECT_EQ(last(copy, PT_LOAD).vaddr, 0x10000u);
  EXPECT_EQ(last(copy, PT_LOAD).align, 0x10000u);
}

TEST(EditedCopy, MovesProgramHeadersAndTheSegmentThatNamesThem) {
  MinimalLibrary library;
  library.segments.insert(
      library.segments.begin(),
      {PT_PHDR, PF_R, 0x40, 0x40, 0x40, 4 * sizeof(Elf64_Phdr), 4 * sizeof(Elf64_Phdr), 8});
  library.header.e_phnum = 4;
  const auto copy = edited(parse(library), {});
  const auto headers = last(copy, PT_PHDR);
  EXPECT_EQ(headers.offset, 0x1000u);
  EXPECT_EQ(headers.vaddr, 0x1000u);
  EXPECT_EQ(headers.fileSize, 5 * sizeof(Elf64_Phdr));
  EXPECT_EQ(element<Elf64_Ehdr>(copy.bytes(), 0).e_phoff, headers.offset);
}

TEST(EditedCopy, HasItsNamesInOrder) {
  MinimalLibrary library;
  library.dynamic.insert(library.dynamic.begin() + 1,
                         {{DT_NEEDED, {library.string("libtwo.so")}},
                          {DT_NEEDED, {library.string("libpython3.11.so")}}});
  library.entry(DT_STRSZ).d_un.d_val = library.strings.size();
  library.segments[MinimalLibrary::dynamicSegment].p_filesz += 2 * sizeof(Elf64_Dyn);
  const auto original = parse(library);
  const auto copy = edited(original, {.soname = "libnew.so",
                                      .neededFirst = {"/first.so", "libtwo.so"},
                                      .needed = {{"libother.so", "/private/libother.so"}},
                                      .neededDropped = {"libpython3.11.so"}});
  EXPECT_EQ(copy.soname(), "libnew.so");
  EXPECT_EQ(copy.needed(), (Names{"/first.so", "libtwo.so", "/private/libother.so"}));
  EXPECT_EQ(copy.versionNeeds()[0].file, "/private/libother.so");
  // Edited once more, what is first already is not there twice.
  const auto again = edited(copy, {.soname = "libnewer.so", .neededFirst = {"/first.so"}});
  EXPECT_EQ(again.soname(), "libnewer.so");
  EXPECT_EQ(again.needed(), (Names{"/first.so", "libtwo.so", "/private/libother.so"}));
}

TEST(EditedCopy, KeepsItsSonameIfNoneIsGiven) {
  Edits edits;
  const auto original = parse({});
  const auto copy = SharedObject::parse(edit(original, edits).bytes, "copy.so", Machine::x86_64());
  EXPECT_EQ(copy.soname(), "libminimal.so");
}

TEST(EditedCopy, GetsASonameWhereThereWasNone) {
  MinimalLibrary library;
  library.remove(DT_SONAME);
  EXPECT_EQ(edited(parse(library), {.soname = "libnew.so"}).soname(), "libnew.so");
}

TEST(EditedCopy, ThatNeedsItselfFollowsItsNewSoname) {
  MinimalLibrary library;
  library.entry(DT_NEEDED).d_un.d_val = library.versionNeeds[0].need.vn_file =
      library.string("libminimal.so");
  const auto copy = edited(parse(library), {.soname = "libnew.so"});
  EXPECT_EQ(copy.needed(), Names{"libnew.so"});
  EXPECT_EQ(copy.versionNeeds()[0].file, "libnew.so");
}

TEST(EditedCopy, SharesOneStringAmongEqualNames) {
  const auto original = parse({});
  const Edits edits{.soname = "libsame.so", .neededFirst = {"libsame.so"}};
  const auto copy = edited(original, edits);
  EXPECT_EQ(copy.stringTable().size(), original.stringTable().size() + sizeof("libsame.so"));
}

TEST(EditedCopy, RenamesReferencesAndTakesTheirVersion) {
  std::vector<std::string> asked;
  Edits edits = completed({.renameUndefined = [&](std::string_view name) {
    asked.emplace_back(name);
    return std::string("other");
  }});
  const auto result = edit(parse({}), edits);
  EXPECT_EQ(asked, std::vector<std::string>{"wanted"});
  EXPECT_EQ(result.report.renamed, std::vector<std::string>{"wanted"});
  const auto copy = SharedObject::parse(result.bytes, "copy.so", Machine::x86_64());
  EXPECT_EQ(copy.symbol(1).name, "other");
  EXPECT_EQ(copy.symbol(2).name, "given");
  EXPECT_EQ(element<uint16_t>(copy.versionTable(), 1), VER_NDX_GLOBAL);
}

TEST(EditedCopy, TurnsRenamedDefinitionsIntoReferences) {
  MinimalLibrary library;
  library.symbols[2].st_other = STV_PROTECTED;
  const auto result = edit(parse(library), completed({.renameDefined = {{"given", "elsewhere"}}}));
  EXPECT_EQ(result.report.renamed, std::vector<std::string>{"given"});
  const auto copy = SharedObject::parse(result.bytes, "copy.so", Machine::x86_64());
  const auto symbol = copy.symbol(2);
  EXPECT_EQ(symbol.name, "elsewhere");
  EXPECT_FALSE(symbol.defined);
  EXPECT_EQ(symbol.value, 0u);
  EXPECT_EQ(element<Elf64_Sym>(copy.symbolTable(), 2).st_other, STV_DEFAULT);
}

TEST(EditedCopy, MakesUniqueSymbolsWeak) {
  MinimalLibrary library;
  library.symbols[2].st_info = ELF64_ST_INFO(STB_GNU_UNIQUE, STT_OBJECT);
  const auto original = parse(library);
  const auto weakened = edit(original, completed({}));
  EXPECT_EQ(weakened.report.uniqueWeakened, 1u);
  EXPECT_TRUE(weakened.report.renamed.empty());
  const auto copy = SharedObject::parse(weakened.bytes, "copy.so", Machine::x86_64());
  EXPECT_EQ(copy.symbol(2).name, "given");
  EXPECT_EQ(copy.symbol(2).binding, STB_WEAK);
}

TEST(EditedCopy, ExpandsOriginAsTheDynamicLinkerDoes) {
  EXPECT_EQ(expandOrigin("$ORIGIN", "/o"), "/o");
  EXPECT_EQ(expandOrigin("$ORIGIN/../lib:${ORIGIN}/x:/y", "/o"), "/o/../lib:/o/x:/y");
  EXPECT_EQ(expandOrigin("$ORIGINAL:$ORIGIN_:$ORIGIN2:${ORIGIN:$LIB", "/o"),
            "$ORIGINAL:$ORIGIN_:$ORIGIN2:${ORIGIN:$LIB");
  EXPECT_EQ(expandOrigin("$ORIGIN/x", ""), "$ORIGIN/x");
  EXPECT_EQ(expandOrigin("$ORIGIN", "/with/$ORIGIN"), "/with/$ORIGIN");
  EXPECT_EQ(edited(parse({}), {.origin = "/opt/x"}).runpath(), "/opt/x/../lib");
}

TEST(EditedCopy, RefusesOriginsThatAPathListCannotHold) {
  try {
    edited(parse({}), {.origin = "/a:b"});
    FAIL();
  } catch (const runtime::ElfError& error) {
    EXPECT_EQ(error.field(), "DT_RUNPATH");
    EXPECT_NE(error.found().find("/a:b"), std::string::npos);
  }
  MinimalLibrary library;
  library.remove(DT_RUNPATH);
  EXPECT_NO_THROW(edited(parse(library), {.origin = "/a:b"})) << "nothing to expand";
}

TEST(EditedCopy, RefusesEditsThatCannotBeRight) {
  const auto original = parse({});
  EXPECT_THROW(edited(original, {.soname = std::string("a\0b", 3)}), runtime::InvalidArgument);
}

TEST(EditedCopy, RefusesAFullProgramHeaderTable) {
  MinimalLibrary library;
  auto bytes = library.bytes();
  const std::size_t count = PN_XNUM - 1;
  const auto at = bytes.size();
  bytes.resize(at + count * sizeof(Elf64_Phdr));  // of type PT_NULL
  std::copy_n(bytes.begin() + MinimalLibrary::segmentsAt, 3 * sizeof(Elf64_Phdr),
              bytes.begin() + static_cast<std::ptrdiff_t>(at));
  auto header = library.header;
  header.e_phoff = at;
  header.e_phnum = count;
  store(std::span(bytes), 0, header);
  const auto original = SharedObject::parse(bytes, "full.so", Machine::x86_64());
  try {
    edited(original, {});
    FAIL();
  } catch (const runtime::ElfError& error) {
    EXPECT_EQ(error.field(), "e_phnum");
  }
}

TEST(EditedCopy, IsTheSameFromManyThreads) {
  const auto original = parse({});
  const Edits edits = completed(
      {.origin = "/o", .renameUndefined = [](std::string_view) { return std::string("x"); }});
  const auto expected = edit(original, edits).bytes;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) EXPECT_EQ(edit(original, edits).bytes, expected);
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace multipy::elf::testing
