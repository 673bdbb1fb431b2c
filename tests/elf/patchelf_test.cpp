// Files that patchelf has changed before, as auditwheel does to every wheel.
#include <elf.h>
#include <gtest/gtest.h>

#include "tools.h"

namespace multipy::elf::testing {
namespace {

class Patchelf : public ::testing::TestWithParam<Toolchain> {
 protected:
  void patch(const std::filesystem::path& library, const std::string& arguments) {
    run(std::string(patchelf) + " " + arguments + " " + library.string());
  }

  Workshop shop;
};

constexpr const char* counter =
    "static int counter = 0; extern \"C\" int next() { return ++counter; }";

TEST_P(Patchelf, ChangedNamesSeveralTimes) {
  const auto original =
      shop.build(GetParam(), "libcounter.so", counter, "-Wl,-soname,libcounter.so");
  patch(original, "--set-soname libcounter-with-a-much-longer-name.so");
  for (const int length : {50, 100, 150}) {
    patch(original, "--set-rpath '$ORIGIN/../some.libs:" + std::string(length, 'x') + "'");
    patch(original, "--add-needed libm.so.6");
  }
  const Loaded plain(original), a(shop.copy(original, "a.so")), b(shop.copy(original, "b.so"));
  EXPECT_EQ(plain.call("next"), 1);
  EXPECT_EQ(plain.call("next"), 2);
  EXPECT_EQ(a.call("next"), 1);
  EXPECT_EQ(b.call("next"), 1);
}

// Some of its versions leave a library that needs its own soname: the original
// satisfies itself, a copy under another name would look for a file.
TEST_P(Patchelf, MadeALibraryThatNeedsItself) {
  const auto original =
      shop.build(GetParam(), "libself.so", counter, "-Wl,-soname,libself-needed.so");
  patch(original, "--add-needed libself-needed.so");
  EXPECT_EQ(Loaded(original).call("next"), 1);
  const auto copy = shop.copy(original, "copy.so");
  EXPECT_EQ(Loaded(copy).call("next"), 1);
}

// A wheel after auditwheel: the extension needs a library with a hash in its
// name in a folder beside its package, whose version records follow.
TEST_P(Patchelf, RepairedAWheel) {
  shop.write("v.map", "DEP_1.0 { global: dependency; local: *; };");
  const auto dependency = shop.build(GetParam(), "pkg.libs/libdep-0badcafe.so",
                                     "extern \"C\" int dependency() { static int n; return ++n; }",
                                     "-Wl,-soname,libdep.so -Wl,--version-script=v.map");
  std::filesystem::create_symlink(dependency, shop / "libdep.so");
  const auto extension =
      shop.build(GetParam(), "pkg/extension.so",
                 "extern \"C\" int dependency(); extern \"C\" int use() { return dependency(); }",
                 "-L. -ldep");
  std::filesystem::remove(shop / "libdep.so");
  patch(dependency, "--set-soname libdep-0badcafe.so");
  patch(extension, "--replace-needed libdep.so libdep-0badcafe.so");
  patch(extension, "--force-rpath --set-rpath '$ORIGIN/../pkg.libs'");

  const Loaded plain(extension);
  EXPECT_EQ(plain.call("use"), 1);
  EXPECT_EQ(plain.call("use"), 2);
  // The dependency shared: found where the original lies.
  EXPECT_EQ(Loaded(shop.copy(extension, "cache/shared.so", {.origin = shop / "pkg"})).call("use"),
            3);
  // The dependency private.
  const auto copied = shop.copy(dependency, "cache/dep.so");
  EXPECT_EQ(
      Loaded(shop.copy(extension, "cache/private.so", {.needed = {{"libdep-0badcafe.so", copied}}}))
          .call("use"),
      1);
}

TEST_P(Patchelf, ChangesACopyOfOurs) {
  const auto original = shop.build(GetParam(), "libcounter.so", counter);
  const auto copy = shop.copy(original, "copy.so");
  patch(copy, "--set-soname libpatched-after-" + GetParam().name + ".so");
  patch(copy, "--set-rpath /nowhere");
  EXPECT_EQ(SharedObject::read(copy).soname(), "libpatched-after-" + GetParam().name + ".so");
  const auto again = shop.copy(copy, "again.so");
  EXPECT_EQ(Loaded(copy).call("next"), 1);
  EXPECT_EQ(Loaded(again).call("next"), 1);
}

INSTANTIATE_TEST_SUITE_P(After, Patchelf, ::testing::ValuesIn(toolchains),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace multipy::elf::testing
