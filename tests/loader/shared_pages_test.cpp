// N copies of a library have their unedited pages in memory once.
#include "loader/shared_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "loader/private_space_fixture.h"

namespace multipy::loader::testing {
namespace {

// 400 kB of constants, code, and data of its own.
constexpr const char* kLarge = R"(
    const int table[100000] = {[0 ... 99999] = 7};
    int counter = 1;
    int at(int i) { return table[i]; }
    int count(void) { return ++counter; })";
constexpr std::size_t kTable = 400'000;

/// Of the mapping that `address` lies in, the file.
std::string fileMappedAt(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    const auto place = reinterpret_cast<uintptr_t>(address);
    if (place >= begin && place < end) return line.substr(std::min(line.find('/'), line.size()));
  }
  return {};
}

class SharedPagesTest : public PrivateSpaceTest {
 protected:
  /// A whole page inside of the table.
  static const char* pageOf(void* library) {
    const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto middle = reinterpret_cast<uintptr_t>(addressOf(library, "table")) + kTable / 2;
    return reinterpret_cast<const char*>(middle / page * page);
  }
};

INSTANTIATE_TEST_SUITE_P(Copies, SharedPagesTest, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "inMemory" : "onDisk"; });

TEST_P(SharedPagesTest, CopiesMapTheirConstantsFromTheOriginal) {
  const auto original = build("site-packages/large.so", kLarge);
  auto first = newSpace(0), second = newSpace(1);
  void* const ones = (*first)->load(original);
  void* const others = (*second)->load(original);
  ASSERT_NE(pageOf(ones), pageOf(others));
  for (void* library : {ones, others}) {
    EXPECT_EQ(fileMappedAt(pageOf(library)), original);
    EXPECT_NE(fileMappedAt(addressOf(library, "counter")), original) << "data is each one's own";
    for (int i = 0; i < 100000; ++i) ASSERT_EQ(call(library, "at", i), 7);
  }
  EXPECT_GE((*first)->loaded().back().pagesShared, kTable - 2 * 65536);
  EXPECT_EQ(call(ones, "count"), 2);
  EXPECT_EQ(call(ones, "count"), 3);
  EXPECT_EQ(call(others, "count"), 2);

  EXPECT_EQ((*first)->unload(), 0u);
  EXPECT_EQ(call(others, "at", 5), 7);
  EXPECT_EQ((*second)->unload(), 0u);
  EXPECT_EQ(mappingsOf(original), 0);
}

TEST_P(SharedPagesTest, PagesThatTheLibraryChangedItselfStay) {
  const auto original = build("site-packages/patching.so", std::string(kLarge) + R"(
      #include <sys/mman.h>
      #include <stdint.h>
      #include <unistd.h>
      __attribute__((constructor)) static void patch(void) {
        uintptr_t page = sysconf(_SC_PAGESIZE), place = (uintptr_t)(table + 50000) / page * page;
        mprotect((void*)place, page, PROT_READ | PROT_WRITE);
        *(int*)&table[50000] = 8;
        mprotect((void*)place, page, PROT_READ);
      })");
  auto space = newSpace(0);
  void* const library = (*space)->load(original);
  EXPECT_EQ(call(library, "at", 50000), 8);
  EXPECT_EQ(call(library, "at", 10), 7);
  const std::size_t shared = (*space)->loaded().back().pagesShared;
  EXPECT_GT(shared, kTable / 2);
  EXPECT_LT(shared, kTable);
  EXPECT_NE(fileMappedAt(addressOf(library, "table")), "");
}

TEST_P(SharedPagesTest, AnotherFileInTheOriginalsPlaceIsNotMapped) {
  const auto original = build("site-packages/replaced.so", kLarge);
  const auto object = elf::SharedObject::read(original);
  const FileIdentity identity = FileIdentity::of(original);
  auto space = newSpace(0);
  void* const library = (*space)->load(original);
  const std::string copy = (*space)->loaded().back().copy;
  build("site-packages/other.so", "const int table[100000] = {[0 ... 99999] = 9};");
  std::filesystem::rename(bench_ / "site-packages/other.so", original);
  EXPECT_EQ(sharePages(copy, sharableRanges(object), original, identity), 0u);
  std::filesystem::remove(original);
  EXPECT_EQ(sharePages(copy, sharableRanges(object), original, identity), 0u);
  EXPECT_EQ(call(library, "at", 50000), 7);
}

TEST_P(SharedPagesTest, InterpretersShareThePagesOfTheirPayload) {
  auto first = newSpace(0), second = newSpace(1);
  const auto object = elf::SharedObject::parse(bench_.standIn(), "libinterpreter.so");
  std::size_t expected = 0;
  for (const auto& range : sharableRanges(object)) expected += range.end - range.begin;
  EXPECT_GT(expected, 0u);
  EXPECT_EQ((*first)->loaded().front().pagesShared, expected);
  EXPECT_EQ((*second)->loaded().front().pagesShared, expected);
}

TEST_P(SharedPagesTest, WhatIsEditedOrRelocatedIsNotSharable) {
  const auto file = build("site-packages/names.so", kLarge);
  const auto object = elf::SharedObject::read(file);
  const auto ranges = sharableRanges(object);
  ASSERT_FALSE(ranges.empty());
  for (const auto& range : ranges) {
    for (const auto& edited : elf::rangesEditedInPlace(object)) {
      EXPECT_TRUE(edited.end <= range.begin || edited.begin >= range.end);
    }
  }
  const auto relocated =
      build("site-packages/relocated.so",
            std::string(kLarge) + "\n__asm__(\".section .text\\n.quad counter\\n.previous\");",
            "-Wl,-z,notext");
  EXPECT_TRUE(sharableRanges(elf::SharedObject::read(relocated)).empty());
  EXPECT_TRUE(
      sharableRanges(elf::SharedObject::read(build("site-packages/small.so", kCounter))).empty());
}

}  // namespace
}  // namespace multipy::loader::testing
