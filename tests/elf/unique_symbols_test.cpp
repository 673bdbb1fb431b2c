// Static members of templates and static locals of inline functions are
// STB_GNU_UNIQUE in what GCC makes: glibc joins them over all libraries of the
// process. In copies they have to be joined per interpreter (salt) and no
// further. clang makes weak symbols of them, which are not joined over dlopen.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "multipy/runtime/Exception.h"
#include "tools.h"

namespace multipy::elf::testing {
namespace {

// glibc never forgets a unique symbol: each test has names of its own.
std::string sourceWithTag(const std::string& tag) {
  return "struct Tag" + tag + R"( {};
    template <class T> struct Registry { static int entries; };
    template <class T> int Registry<T>::entries = 0;
    template <class T> inline int& local() { static int value; return value; })" +
         "using Tag = Tag" + tag + ";" + R"(
    extern "C" int next() { return ++Registry<Tag>::entries; }
    extern "C" int nextLocal() { return ++local<Tag>(); }
    extern "C" int* entries() { return &Registry<Tag>::entries; })";
}

class Unique : public ::testing::TestWithParam<Toolchain> {
 protected:
  std::filesystem::path build(const std::string& name, const std::string& flags = "",
                              const std::string& tag = "") {
    const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
    std::string unique = std::string(test.name()) + tag;
    std::replace(unique.begin(), unique.end(), '/', '_');
    return shop.build(GetParam(), name, sourceWithTag(unique), flags);
  }
  static uint32_t count(const std::filesystem::path& library) {
    const auto object = SharedObject::read(library);
    uint32_t unique = 0;
    for (uint32_t i = 1; i < object.symbolCount(); ++i)
      unique += object.symbol(i).binding == STB_GNU_UNIQUE;
    return unique;
  }
  Workshop shop;
};

TEST_P(Unique, SymbolsAreSeparateForEachSalt) {
  for (const char* hashStyle : {"gnu", "sysv", "both"}) {
    SCOPED_TRACE(hashStyle);
    const std::string name = hashStyle;
    const auto original = build(name + ".so", "-Wl,--hash-style=" + name, name);
    const auto uniques = count(original);
    EXPECT_EQ(uniques > 0, GetParam().isGcc());
    EditReport report;
    const auto a = shop.copy(original, name + "-a.so", {.uniqueSalt = 1}, &report);
    const auto b = shop.copy(original, name + "-b.so", {.uniqueSalt = 2});
    EXPECT_EQ(report.uniqueRenamed, uniques);
    EXPECT_EQ(report.uniqueWeakened, 0u);
    EXPECT_EQ(count(a), uniques);
    const Loaded plain(original), first(a), second(b);
    // 1, 1, 1: joined, it would be 1, 2, 3.
    for (const char* function : {"next", "nextLocal"}) {
      EXPECT_EQ(plain.call(function), 1);
      EXPECT_EQ(first.call(function), 1);
      EXPECT_EQ(second.call(function), 1);
      EXPECT_EQ(first.call(function), 2);
    }
    // Whoever looks it up by its new name finds it through the hash table.
    const auto object = SharedObject::read(a);
    for (uint32_t i = 1; i < object.symbolCount(); ++i) {
      const auto symbol = object.symbol(i);
      if (symbol.binding != STB_GNU_UNIQUE) continue;
      EXPECT_NO_THROW(first.symbol(std::string(symbol.name).c_str())) << symbol.name;
    }
  }
}

TEST_P(Unique, SymbolsAreOneForTheLibrariesOfOneSalt) {
  if (!GetParam().isGcc()) {
    EXPECT_EQ(count(build("x.so")), 0u) << "clang has learnt it: test it";
    return;
  }
  // Another library that happens to have the same template, and other hash tables.
  const auto x = build("x.so", "-Wl,--hash-style=gnu");
  const auto y = build("y.so", "-Wl,--hash-style=both");
  const Loaded x1(shop.copy(x, "x1.so", {.uniqueSalt = 11})),
      y1(shop.copy(y, "y1.so", {.uniqueSalt = 11}));
  const Loaded x2(shop.copy(x, "x2.so", {.uniqueSalt = 12})),
      y2(shop.copy(y, "y2.so", {.uniqueSalt = 12}));
  EXPECT_EQ(x1.call("next"), 1);
  EXPECT_EQ(y1.call("next"), 2);
  EXPECT_EQ(x2.call("next"), 1);
  EXPECT_EQ(y2.call("next"), 2);
  EXPECT_EQ(x1.call<int*>("entries"), y1.call<int*>("entries"));
  EXPECT_NE(x1.call<int*>("entries"), x2.call<int*>("entries"));
}

TEST_P(Unique, SymbolsMadeWeakAreSeparateAndLetTheCopyGo) {
  const auto original = build("original.so");
  EditReport report;
  const auto path = shop.copy(original, "weak.so", {.unique = UniqueSymbols::Weaken}, &report);
  EXPECT_EQ(report.uniqueWeakened, count(original));
  EXPECT_EQ(count(path), 0u);
  const Loaded plain(original);
  EXPECT_EQ(plain.call("next"), 1);
  EXPECT_EQ(Loaded(path).call("next"), 1);
  EXPECT_FALSE(Loaded::isMapped(path));
}

TEST_P(Unique, SymbolsThatAreKeptAreJoined) {
  const auto original = build("original.so");
  const Loaded plain(original),
      copy(shop.copy(original, "kept.so", {.unique = UniqueSymbols::Keep}));
  EXPECT_EQ(plain.call("next"), 1);
  EXPECT_EQ(copy.call("next"), GetParam().isGcc() ? 2 : 1);
}

TEST_P(Unique, SymbolsOfASharedLibraryAreUsedByAllCopies) {
  if (!GetParam().isGcc()) {
    EXPECT_EQ(count(build("x.so")), 0u) << "clang has learnt it: test it";
    return;
  }
  const auto shared = build("libshared.so", "-Wl,-soname,libshared-of-copies.so");
  const auto user =
      build("user.so", "-L. -Wl,--no-as-needed -lshared -Wl,-rpath," + shop.folder().string());
  const Edits edits{.needed = {{"libshared-of-copies.so", shared}},
                    .uniqueShared = [](std::string_view name) {
                      return name.find("entries") != std::string_view::npos;
                    }};
  EditReport report;
  const auto a = shop.copy(user, "a.so", edits, &report), b = shop.copy(user, "b.so", edits);
  EXPECT_EQ(report.uniqueShared, 1u);
  EXPECT_EQ(report.uniqueRenamed, count(user) - 1);
  const Loaded base(shared), first(a), second(b);
  EXPECT_EQ(base.call("next"), 1);
  EXPECT_EQ(first.call("next"), 2);
  EXPECT_EQ(second.call("next"), 3);
  // What is not shared is each copy's own again.
  EXPECT_EQ(base.call("nextLocal"), 1);
}

TEST_P(Unique, RenamingWithoutASaltIsRefused) {
  const auto original = SharedObject::read(build("original.so"));
  EXPECT_THROW(edit(original, {.soname = "x.so"}), runtime::InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(With, Unique, ::testing::ValuesIn(toolchains),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace multipy::elf::testing
