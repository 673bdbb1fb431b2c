// The forms that a shared object can have: hash tables, packed relocations, page
// sizes, number of symbols, missing section headers. Each is built by each
// linker, copied, compared with what readelf says, loaded and called.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "elf/checked_bytes.h"
#include "tools.h"

namespace multipy::elf::testing {
namespace {

constexpr const char* counter = R"(
    static int counter;
    static int* table[] = {&counter, &counter, &counter};
    extern "C" int next() { return ++*table[counter % 3]; })";

class FileFormats : public ::testing::TestWithParam<Toolchain> {
 protected:
  std::filesystem::path build(const std::string& flags) {
    return shop.build(GetParam(), "original.so", counter, flags);
  }

  // The copy of a library that has `next` counts for itself.
  void expectToWork(const std::filesystem::path& original) {
    const auto a = shop.copy(original, "a.so"), b = shop.copy(original, "b.so");
    expectToolsToAgree(a);
    const Loaded first(original), second(a), third(b);
    EXPECT_EQ(first.call("next"), 1);
    EXPECT_EQ(first.call("next"), 2);
    EXPECT_EQ(second.call("next"), 1);
    EXPECT_EQ(third.call("next"), 1);
    EXPECT_EQ(second.call("next"), 2);
  }

  void expectToolsToAgree(const std::filesystem::path& copy) {
    const auto report = run(std::string(readelf) + " -aW " + copy.string());
    EXPECT_EQ(report.find("readelf: "), std::string::npos) << report;
    EXPECT_NE(report.find("[" + std::string(SharedObject::read(copy).soname()) + "]"),
              std::string::npos)
        << report;
  }

  Workshop shop;
};

TEST_P(FileFormats, GnuHashOnly) {
  const auto original = build("-Wl,--hash-style=gnu");
  const auto object = SharedObject::read(original);
  EXPECT_TRUE(object.has(DT_GNU_HASH));
  EXPECT_FALSE(object.has(DT_HASH));
  expectToWork(original);
}

TEST_P(FileFormats, SystemVHashOnly) {
  const auto original = build("-Wl,--hash-style=sysv");
  const auto object = SharedObject::read(original);
  EXPECT_FALSE(object.has(DT_GNU_HASH));
  EXPECT_TRUE(object.has(DT_HASH));
  expectToWork(original);
}

TEST_P(FileFormats, BothHashes) {
  const auto original = build("-Wl,--hash-style=both");
  const auto object = SharedObject::read(original);
  EXPECT_TRUE(object.has(DT_GNU_HASH));
  EXPECT_TRUE(object.has(DT_HASH));
  expectToWork(original);
}

TEST_P(FileFormats, PackedRelativeRelocations) {
  if (GetParam().links("gold")) {
    EXPECT_THROW(build("-Wl,-z,pack-relative-relocs,--fatal-warnings"), std::runtime_error)
        << "gold has learnt it: test it";
    return;
  }
  // glibc wants objects that need libc.so.6 by version to need GLIBC_ABI_DT_RELR of
  // it too. GNU ld sees to that; lld 14 and mold 1.10 do not.
  const auto original = build(GetParam().links("bfd") ? "-Wl,-z,pack-relative-relocs"
                                                      : "-Wl,--pack-dyn-relocs=relr -nostdlib");
  // For other machines GNU ld does nothing and says nothing (binutils 2.40).
  const bool isPacked = &Machine::host() == &Machine::x86_64() || !GetParam().links("bfd");
  EXPECT_EQ(SharedObject::read(original).has(DT_RELR), isPacked);
  expectToWork(original);
}

TEST_P(FileFormats, HugePages) {
  const auto original = build("-Wl,-z,max-page-size=0x200000 -Wl,-z,common-page-size=0x200000");
  const auto object = SharedObject::read(original);
  uint64_t alignment = 0;
  for (const Segment& s : object.segments())
    if (s.type == PT_LOAD) alignment = std::max(alignment, s.align);
  EXPECT_EQ(alignment, 0x200000u);
  expectToWork(original);
}

TEST_P(FileFormats, Stripped) {
  const auto original = build("-Wl,--build-id=0x0123456789abcdef");
  run(std::string(strip) + " " + original.string());
  expectToWork(original);
  const auto copied = SharedObject::read(shop / "a.so");
  ASSERT_EQ(copied.buildId().size(), 8u);
  EXPECT_EQ(copied.buildId()[0], std::byte{0x01});
  EXPECT_EQ(copied.buildId()[7], std::byte{0xef});
}

TEST_P(FileFormats, NoBuildIdNoProperties) {
  const auto original = build("-Wl,--build-id=none -fcf-protection=none");
  EXPECT_TRUE(SharedObject::read(original).buildId().empty());
  expectToWork(original);
}

TEST_P(FileFormats, NoSectionHeaders) {
  const auto original = build("");
  auto bytes = readFile(original);
  auto header = element<Elf64_Ehdr>(bytes, 0);
  bytes.resize(header.e_shoff);  // linkers put them last
  header.e_shoff = 0;
  header.e_shnum = header.e_shentsize = header.e_shstrndx = 0;
  store(bytes, 0, header);
  writeFile(original, bytes);
  expectToWork(original);
}

TEST_P(FileFormats, DamagedSectionHeaders) {
  const auto original = build("");
  auto bytes = readFile(original);
  for (auto at = element<Elf64_Ehdr>(bytes, 0).e_shoff; at < bytes.size(); ++at)
    bytes[at] = std::byte{0xff};
  writeFile(original, bytes);
  const auto copy = shop.copy(original, "copy.so");
  EXPECT_EQ(Loaded(copy).call("next"), 1);
}

TEST_P(FileFormats, BindingAndProtection) {
  std::vector<const char*> variants{"-Wl,-z,lazy", "-Wl,-z,now,-z,relro", "-Wl,-z,norelro",
                                    "-Wl,-Bsymbolic"};
  // A dynamic section that ld.so must not write into: only lld makes it.
  if (GetParam().links("lld")) variants.push_back("-Wl,-z,rodynamic");
  for (const char* flags : variants) {
    SCOPED_TRACE(flags);
    expectToWork(build(flags));
  }
}

TEST_P(FileFormats, SeventyThousandSymbols) {
  constexpr int count = 70'000;
  const bool isArm = &Machine::host() == &Machine::aarch64();
  std::string source = "asm(R\"(.text\n";
  for (int i = 0; i < count; ++i) {
    const auto name = "function_" + std::to_string(i);
    source += ".globl " + name + "\n.type " + name + ",%function\n" + name + ": ";
    source += isArm ? "mov w0, #" + std::to_string(i & 0xffff) + "\nmovk w0, #" +
                          std::to_string(i >> 16) + ", lsl #16\nret\n"
                    : "movl $" + std::to_string(i) + ",%eax\nret\n";
  }
  source += ")\");";
  for (const char* hashStyle : {"gnu", "sysv"}) {
    SCOPED_TRACE(hashStyle);
    const auto original =
        shop.build(GetParam(), "many.so", source, std::string("-Wl,--hash-style=") + hashStyle);
    EXPECT_GT(SharedObject::read(original).symbolCount(), 70'000u);
    const Loaded library(shop.copy(original, std::string(hashStyle) + ".so"));
    for (const int i : {0, 1, 65'534, 65'535, 65'536, count - 1})
      EXPECT_EQ(library.call(("function_" + std::to_string(i)).c_str()), i);
  }
}

// A library that defines nothing has a GNU hash table that does not say how
// many symbols it refers to.
TEST_P(FileFormats, NothingDefined) {
  const auto original = shop.build(GetParam(), "undefined.so", R"(
      extern "C" int getpid(); extern "C" int getppid();
      __attribute__((visibility("hidden"))) int sum;
      __attribute__((constructor)) static void start() { sum = getpid() + getppid(); })",
                                   "-Wl,--hash-style=gnu -nostartfiles");
  const auto object = SharedObject::read(original);
  std::set<std::string_view> names;
  for (uint32_t i = 1; i < object.symbolCount(); ++i)
    if (!object.symbol(i).defined) names.insert(object.symbol(i).name);
  EXPECT_TRUE(names.contains("getpid"));
  EXPECT_TRUE(names.contains("getppid"));

  EditReport report;
  const auto copy =
      shop.copy(original, "copy.so",
                {.renameUndefined =
                     [](std::string_view name) {
                       return name == "getpid" ? std::string("no_such_function") : std::string();
                     }},
                &report);
  EXPECT_EQ(report.renamed, std::vector<std::string>{"getpid"});
  try {
    const Loaded library(copy);
    FAIL() << "the renamed symbol exists nowhere";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_function"), std::string::npos)
        << error.what();
  }
}

TEST_P(FileFormats, SymbolsAreThoseOfReadelf) {
  const auto original = build("");
  const auto object = SharedObject::read(original);
  const auto listing = run(std::string(readelf) + " --dyn-syms -W " + original.string());
  EXPECT_NE(listing.find("contains " + std::to_string(object.symbolCount()) + " entries"),
            std::string::npos)
      << listing;
  for (uint32_t i = 1; i < object.symbolCount(); ++i)
    EXPECT_NE(listing.find(object.symbol(i).name), std::string::npos) << object.symbol(i).name;
}

INSTANTIATE_TEST_SUITE_P(With, FileFormats, ::testing::ValuesIn(toolchains),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace multipy::elf::testing
