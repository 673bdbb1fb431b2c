#include "elf/unique_names.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace multipy::elf::testing {
namespace {

// Written again from the gABI and from the GNU hash section's description, not
// in steps as in the code under test.
uint32_t gnuHash(const std::string& name) {
  uint32_t h = 5381;
  for (const char c : name) h = (h << 5) + h + static_cast<unsigned char>(c);
  return h;
}
uint32_t sysvHash(const std::string& name) {
  unsigned long h = 0;
  for (const char c : name) {
    h = (h << 4) + static_cast<unsigned char>(c);
    if (const unsigned long g = h & 0xf0000000) h ^= g >> 24;
    h &= 0x0fffffff;
  }
  return static_cast<uint32_t>(h);
}

const std::string names[] = {
    "_ZN1A1xE",
    "_ZGVZN3foo3barEvE5value",
    "a",
    "",
    "ab",
    "abc",
    "_ZN8pybind116detail13internals_ptrE",
    "_ZZN3c1012intrusive_ptrINS_10TensorImplENS_19UndefinedTensorImplEE4makeEvE1s"};

TEST(UniqueNames, KnownHashes) {
  EXPECT_EQ(symbolHash(SymbolHash::Gnu, "printf"), 0x156b2bb8u);
  EXPECT_EQ(symbolHash(SymbolHash::SysV, "printf"), 0x077905a6u);
  EXPECT_EQ(symbolHash(SymbolHash::Gnu, ""), 0x00001505u);
  EXPECT_EQ(symbolHash(SymbolHash::SysV, ""), 0u);
}

TEST(UniqueNames, KeepLengthAndHashAndDiffer) {
  for (const auto& name : names) {
    SCOPED_TRACE(name);
    for (const auto hash : {SymbolHash::Gnu, SymbolHash::SysV}) {
      std::set<std::string> seen;
      for (uint32_t salt = 0; salt < 2000; ++salt) {
        const auto renamed = sameHashName(name, salt, hash);
        if (!renamed) break;
        EXPECT_EQ(renamed->size(), name.size());
        EXPECT_EQ(renamed->find('\0'), std::string::npos);
        if (hash == SymbolHash::Gnu)
          EXPECT_EQ(gnuHash(*renamed), gnuHash(name)) << salt;
        else
          EXPECT_EQ(sysvHash(*renamed), sysvHash(name)) << salt;
        EXPECT_TRUE(seen.insert(*renamed).second) << "salt " << salt << " repeats a name";
      }
      EXPECT_TRUE(seen.contains(name)) << "salt 0 is the name itself";
      const std::size_t promised = name.size() >= 20 ? 2000 : name.size() >= 8 ? 1000 : 1;
      EXPECT_GE(seen.size(), promised);
    }
  }
}

TEST(UniqueNames, OfOneSaltStayDifferent) {
  // All turned forms of one name are near each other: the worst case.
  std::set<std::string> family;
  for (uint32_t salt = 0; salt < 500; ++salt)
    family.insert(*sameHashName("_ZN1A5valueE", salt, SymbolHash::Gnu));
  for (const uint32_t salt : {1u, 2u, 77u, 1000u}) {
    std::set<std::string> renamed;
    for (const auto& name : family) renamed.insert(*sameHashName(name, salt, SymbolHash::Gnu));
    EXPECT_EQ(renamed.size(), family.size());
  }
}

TEST(UniqueNames, RunOut) {
  EXPECT_EQ(sameHashName("", 0, SymbolHash::Gnu), "");
  EXPECT_EQ(sameHashName("", 1, SymbolHash::Gnu), std::nullopt);
  EXPECT_EQ(sameHashName("a", 1, SymbolHash::SysV), std::nullopt);
  EXPECT_EQ(sameHashName("ab", 100, SymbolHash::Gnu), std::nullopt);
}

TEST(UniqueNames, ServeLargeSalts) {
  const auto& longName = names[std::size(names) - 1];
  const auto a = sameHashName(longName, 0xffffffff, SymbolHash::Gnu);
  const auto b = sameHashName(longName, 0xfffffffe, SymbolHash::Gnu);
  ASSERT_TRUE(a && b);
  EXPECT_NE(*a, *b);
  EXPECT_EQ(gnuHash(*a), gnuHash(*b));
}

}  // namespace
}  // namespace multipy::elf::testing
