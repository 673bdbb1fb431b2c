// What the reader says about files that are right. (damaged_files_test.cpp has
// those that are not, file_formats_test.cpp those that real linkers make.)
#include "elf/shared_object.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "elf/minimal_library.h"
#include "elf/workshop.h"
#include "multipy/runtime/Exception.h"

namespace multipy::elf::testing {
namespace {

SharedObject parse(const MinimalLibrary& library) {
  return SharedObject::parse(library.bytes(), "minimal.so", Machine::x86_64());
}

TEST(SharedObject, TellsWhatIsInIt) {
  const auto object = parse({});
  EXPECT_EQ(object.name(), "minimal.so");
  EXPECT_EQ(object.bytes().size(), MinimalLibrary::fileSize);
  EXPECT_EQ(object.machine().name, "x86_64");
  EXPECT_EQ(object.soname(), "libminimal.so");
  EXPECT_EQ(object.needed(), std::vector<std::string_view>{"libother.so"});
  EXPECT_EQ(object.runpath(), "$ORIGIN/../lib");
  EXPECT_EQ(object.rpath(), "");
  EXPECT_EQ(object.segments().size(), 3u);
  EXPECT_EQ(object.segments()[0].memorySize, MinimalLibrary::fileSize + 0x100);
  EXPECT_EQ(object.dynamic().size(), MinimalLibrary().dynamic.size() - 1);
  EXPECT_TRUE(object.has(DT_RELA));
  EXPECT_FALSE(object.has(DT_RELR));
  EXPECT_EQ(object.dynamicValue(DT_SYMENT), sizeof(Elf64_Sym));
  ASSERT_EQ(object.buildId().size(), 4u);
  EXPECT_EQ(object.buildId()[1], std::byte{0x22});
  ASSERT_EQ(object.versionNeeds().size(), 1u);
  EXPECT_EQ(object.versionNeeds()[0].file, "libother.so");
  EXPECT_EQ(object.versionNeeds()[0].versionIndices, std::vector<uint16_t>{2});
}

TEST(SharedObject, TellsItsSymbols) {
  const auto object = parse({});
  ASSERT_EQ(object.symbolCount(), 3u);
  EXPECT_EQ(object.symbol(1).name, "wanted");
  EXPECT_FALSE(object.symbol(1).defined);
  const auto given = object.symbol(2);
  EXPECT_EQ(given.name, "given");
  EXPECT_TRUE(given.defined);
  EXPECT_EQ(given.binding, STB_GLOBAL);
  EXPECT_EQ(given.type, STT_FUNC);
  EXPECT_EQ(given.value, 0x10u);
  EXPECT_EQ(given.size, 4u);
  EXPECT_EQ(given.index, 2u);
  EXPECT_THROW(object.symbol(0), runtime::InvalidArgument);
  EXPECT_THROW(object.symbol(3), runtime::InvalidArgument);
}

TEST(SharedObject, CountsSymbolsWithEitherHashTable) {
  MinimalLibrary gnu, sysv;
  gnu.remove(DT_HASH);
  sysv.remove(DT_GNU_HASH);
  EXPECT_EQ(parse(gnu).symbolCount(), 3u);
  EXPECT_EQ(parse(sysv).symbolCount(), 3u);
}

TEST(SharedObject, CountsUndefinedSymbolsByTheirRelocations) {
  MinimalLibrary library;
  library.remove(DT_HASH);
  library.gnuHash = {1, 1, 1, 0, 0, 0, 0};  // as GNU ld writes it
  EXPECT_EQ(parse(library).symbolCount(), 2u);
  library.entry(DT_RELA).d_tag = DT_JMPREL;
  library.entry(DT_RELASZ).d_tag = DT_PLTRELSZ;
  EXPECT_EQ(parse(library).symbolCount(), 2u);
  library.remove(DT_GNU_HASH);
  EXPECT_EQ(parse(library).symbolCount(), 2u);
  library.remove(DT_JMPREL);
  EXPECT_EQ(parse(library).symbolCount(), 1u);
}

TEST(SharedObject, TakesTheLastOfSeveralEntries) {
  MinimalLibrary library;
  library.dynamic.insert(library.dynamic.begin(), {DT_SONAME, {library.string("libother.so")}});
  library.segments[MinimalLibrary::dynamicSegment].p_filesz += sizeof(Elf64_Dyn);
  EXPECT_EQ(parse(library).soname(), "libminimal.so");
}

TEST(SharedObject, CopiesShareTheBytesAndKeepThemAlive) {
  std::optional<SharedObject> first(parse({}));
  const SharedObject second = *first;
  EXPECT_EQ(second.bytes().data(), first->bytes().data());
  first.reset();
  EXPECT_EQ(second.soname(), "libminimal.so");
  EXPECT_EQ(second.symbol(2).name, "given");
}

TEST(SharedObject, OtherMachinesAreARow) {
  MinimalLibrary library;
  library.header.e_machine = EM_AARCH64;
  const auto object = SharedObject::parse(library.bytes(), "arm.so", Machine::aarch64());
  EXPECT_EQ(object.machine().name, "aarch64");
  EXPECT_EQ(object.symbolCount(), 3u);
}

TEST(SharedObject, IsReadFromAFileThatMayThenBeReplaced) {
  const Workshop shop;
  writeFile(shop / "minimal.so", MinimalLibrary().bytes());
  const auto object = SharedObject::read(shop / "minimal.so", Machine::x86_64());
  EXPECT_EQ(object.name(), (shop / "minimal.so").string());
  writeFile(shop / "new.so", std::vector<std::byte>(10));
  std::filesystem::rename(shop / "new.so", shop / "minimal.so");
  EXPECT_EQ(object.soname(), "libminimal.so");
}

TEST(SharedObject, WhatIsNoReadableFileIsALoadError) {
  const Workshop shop;
  EXPECT_THROW(SharedObject::read(shop / "missing.so"), runtime::LoadError);
  EXPECT_THROW(SharedObject::read(shop.folder()), runtime::LoadError);
  ASSERT_EQ(::mkfifo((shop / "pipe.so").c_str(), 0600), 0);
  EXPECT_THROW(SharedObject::read(shop / "pipe.so"), runtime::LoadError);
  try {
    SharedObject::read(shop / "missing.so");
  } catch (const runtime::LoadError& error) {
    EXPECT_NE(std::string(error.what()).find("missing.so"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos);
  }
  writeFile(shop / "empty.so", {});
  EXPECT_THROW(SharedObject::read(shop / "empty.so"), runtime::ElfError);
  shop.write("script.so",
             "/* GNU ld script */ GROUP ( libc.so.6 ) and so on, a bit longer than a header\n");
  EXPECT_THROW(SharedObject::read(shop / "script.so"), runtime::ElfError);
}

}  // namespace
}  // namespace multipy::elf::testing
