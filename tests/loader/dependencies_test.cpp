// That a private library gets the dependencies it would get from ld.so, private
// or shared as the policy says.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "loader/private_space_fixture.h"

/// Of the program, which exports it.
extern "C" __attribute__((visibility("default"))) int shadowed_by_the_program() { return 1; }

namespace multipy::loader::testing {
namespace {

class DependenciesTest : public PrivateSpaceTest {};

INSTANTIATE_TEST_SUITE_P(Copies, DependenciesTest, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "inMemory" : "onDisk"; });

TEST_P(DependenciesTest, UsersOfTheCApiArePrivateWhereverTheyLieAndSoAreTheirUsers) {
  build("usr/lib/libboostpython.so",
        "const char* PyThing_Who(void); const char* who(void) { return PyThing_Who(); }"
        "int count(void) { static int n; return ++n; }",
        "-Wl,-soname,libboostpython.so");
  const auto user = build("usr/lib/libuser.so",
                          "const char* who(void); int count(void);"
                          "const char* u(void) { return who(); } int c(void) { return count(); }",
                          link("usr/lib", "libboostpython.so") + " -Wl,-rpath,'$ORIGIN'");
  auto first = newSpace(0), second = newSpace(1);
  EXPECT_STREQ(call<const char*>((*first)->load(user), "u"), "interpreter");
  EXPECT_EQ(call((*first)->load(user), "c"), 1);
  EXPECT_EQ(call((*second)->load(user), "c"), 1);
  const auto loaded = (*first)->loaded();
  ASSERT_EQ(loaded.size(), 3u);  // interpreter, libboostpython, libuser
  EXPECT_EQ(loaded[1].reason, "uses PyThing_Who of the CPython C API");
  EXPECT_EQ(loaded[2].reason, "needs a library that uses the CPython C API");
}

TEST_P(DependenciesTest, DependenciesAreFoundThroughRunpathAndRpath) {
  for (const std::string tag : {"--enable-new-dtags", "--disable-new-dtags"}) {
    const std::string d = "site-packages/" + tag;
    build(d + "/libs/libbase.so", kCounter, "-Wl,-soname,libbase.so");
    build(d + "/libs/libmiddle.so", "int count(void); int middle(void) { return count(); }",
          link(d + "/libs", "libbase.so") + " -Wl,-soname,libmiddle.so -Wl," + tag +
              " -Wl,-rpath,'$ORIGIN'");
    const auto top =
        build(d + "/top.so", "int middle(void); int top(void) { return middle(); }",
              link(d + "/libs", "libmiddle.so") + " -Wl,-rpath-link,'" + (bench_ / d).string() +
                  "/libs' -Wl," + tag + " -Wl,-rpath,'${ORIGIN}/libs'");
    auto first = newSpace(0), second = newSpace(1);
    EXPECT_EQ(call((*first)->load(top), "top"), 1);
    EXPECT_EQ(call((*first)->load(top), "top"), 2);
    EXPECT_EQ(call((*second)->load(top), "top"), 1);
    EXPECT_EQ((*first)->loaded().size(), 4u);
  }
}

TEST_P(DependenciesTest, DependenciesAreFoundThroughTheRpathOfWhoNeedsTheirUser) {
  build("site-packages/libs/libprivate.so", kCounter, "-Wl,-soname,libprivate.so");
  build("shared/libshared.so", "int shared(void) { static int n; return ++n; }",
        "-Wl,-soname,libshared.so");
  build("site-packages/libs/libmiddle.so",
        "int count(void); int shared(void); int m(void) { return 10 * shared() + count(); }",
        link("site-packages/libs", "libprivate.so") + " " + link("shared", "libshared.so") +
            " -Wl,-soname,libmiddle.so");
  const auto top =
      build("site-packages/top.so", "int m(void); int top(void) { return m(); }",
            link("site-packages/libs", "libmiddle.so") +
                " -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/libs:" +
                (bench_ / "shared").string() + "'");
  auto first = newSpace(0), second = newSpace(1);
  EXPECT_EQ(call((*first)->load(top), "top"), 11);
  EXPECT_EQ(call((*second)->load(top), "top"), 21) << "libshared is shared, libprivate is not";
}

// As scipy.libs/libgfortran and libquadmath in a folder that is not the environment's.
TEST_P(DependenciesTest, SharedLibrariesFindTheirsThroughTheRpathOfTheirPrivateUsers) {
  const std::string d = GetParam() ? "vendored1" : "vendored2";
  build(d + "/libs/libbase.so", kCounter, "-Wl,-soname,libbase.so");
  build(d + "/libs/libmiddle.so", "int count(void); int m(void) { return count(); }",
        link(d + "/libs", "libbase.so") + " -Wl,-soname,libmiddle.so");
  const auto top =
      build("site-packages/" + d + ".so", "int m(void); int top(void) { return m(); }",
            link(d + "/libs", "libmiddle.so") +
                " -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/../" + d +
                "/libs'");
  auto first = newSpace(0), second = newSpace(1);
  EXPECT_EQ(call((*first)->load(top), "top"), 1);
  EXPECT_EQ(call((*second)->load(top), "top"), 2) << "outside the environment: shared";
}

TEST_P(DependenciesTest, SharedLibrariesThatNeedEachOtherLoad) {
  const std::string d = GetParam() ? "circle1" : "circle2";
  const std::string here = " -Wl,-rpath,'$ORIGIN' -Wl,-soname,lib";
  build(d + "/libtwo.so", "int two(void) { return 2; }", "-Wl,-soname,libtwo.so");
  const auto one = build(d + "/libone.so", "int two(void); int one(void) { return two() - 1; }",
                         link(d, "libtwo.so") + here + "one.so");
  build(d + "/libtwo.so",
        "int one(void); int two(void) { return 2; } int t(void) { return one(); }",
        link(d, "libone.so") + here + "two.so");
  auto space = newSpace(0);
  EXPECT_EQ(call((*space)->load(one), "one"), 1);
}

TEST_P(DependenciesTest, ADirectoryMayComeToTheEnvironmentLater) {
  const std::string d = GetParam() ? "later1" : "later2";
  const auto before = build(d + "/before.so", kCounter), after = build(d + "/after.so", kCounter);
  auto first = newSpace(0), second = newSpace(1);
  for (auto* space : {&first, &second}) {
    (**space)->load(before);
    (**space)->addRoot(bench_ / d);
    EXPECT_EQ(call((**space)->load(after), "count"), 1) << "private";
  }
  EXPECT_EQ(call((*first)->load(before), "count"), 1);
  EXPECT_EQ(call((*second)->load(before), "count"), 2) << "as it was when it was loaded";
}

TEST_P(DependenciesTest, SharedLibrariesAreNotBoundToThePrivateOnesThatBringThem) {
  // Both define an inline function; as a dependency of the private library, the
  // shared one would call the private one's.
  const std::string d = GetParam() ? "bound1" : "bound2";
  const char* name = "__attribute__((weak)) const char* which(void)";
  build(d + "/libshared.so",
        std::string(name) +
            " { return \"shared\"; }"
            "const char* ofShared(void) { return which(); }",
        "-Wl,-soname,libshared-" + d + ".so");
  std::filesystem::copy_file(bench_ / (d + "/libshared.so"),
                             bench_ / (d + "/libshared-" + d + ".so"));
  const auto library =
      build("site-packages/inline.so",
            std::string(name) +
                " { return \"private\"; } const char* ofShared(void);"
                "const char* get(void) { return ofShared(); }",
            link(d, "libshared.so") + " -Wl,-rpath,'" + (bench_ / d).string() + "'");
  auto space = newSpace(0);
  EXPECT_STREQ(call<const char*>((*space)->load(library), "get"), "shared");
  EXPECT_EQ((*space)->unload(), 0u);
}

// As usearch does with numkong: ctypes.CDLL(path, RTLD_GLOBAL), then an import.
TEST_P(DependenciesTest, WhatIsOpenedGloballyIsThereForThoseThatComeLater) {
  const auto provider = build("site-packages/libprovider.so", "int provided(void) { return 7; }");
  const auto user = build("site-packages/global_user.so",
                          "int provided(void); int use(void) { return provided(); }");
  auto space = newSpace(0), other = newSpace(1);
  EXPECT_TRUE(contains(errorOf([&] { (*space)->load(user); }), "provided"));
  (*space)->open(provider.c_str(), RTLD_NOW | RTLD_GLOBAL, nullptr);
  EXPECT_EQ(call((*space)->load(user), "use"), 7);
  EXPECT_NE((*space)->symbol(RTLD_DEFAULT, "provided", nullptr), nullptr);
  EXPECT_TRUE(contains(errorOf([&] { (*other)->load(user); }), "provided"))
      << "in its own space only";
  EXPECT_EQ((*other)->symbol(RTLD_DEFAULT, "provided", nullptr), nullptr);
}

// uvloop has a libuv of its own in it, and libtorch_cpu another one.
TEST_P(DependenciesTest, ALibraryFindsItsOwnDefinitionsBeforeTheProgramsOfThatName) {
  const auto library = build("site-packages/own.so", R"(
      int shadowed_by_the_program(void) { return 2; }
      int use(void) { return shadowed_by_the_program(); })",
                             "-fPIC -fsemantic-interposition");
  auto space = newSpace(0);
  EXPECT_EQ(call((*space)->load(library), "use"), 2);
}

TEST_P(DependenciesTest, InlineVariablesAreThoseOfTheLibraryThatIsNeeded) {
  constexpr const char* kHeader = R"(
      inline int variable = 0;
      inline thread_local int of_thread = 0;
      template <class T> T& single() { static T* const one = new T(); return *one; }
      static int sum() { return variable + of_thread + single<int>(); }
  )";
  const std::string header = kHeader;
  for (const std::string unique : {"-fgnu-unique", "-fno-gnu-unique"}) {
    const std::string folder = "site-packages/" + unique.substr(2), flags = " -std=c++17 " + unique;
    build(folder + "/libbase++.so", header + "extern \"C\" int base() { return sum(); }",
          "-Wl,-soname,libbase++.so" + flags);
    build(
        folder + "/libmiddle++.so",
        header + "extern \"C\" int base(); extern \"C\" int middle() { return base() == sum(); }",
        link(folder, "libbase++.so") + " -Wl,-soname,libmiddle++.so -Wl,-rpath,'$ORIGIN'" + flags);
    const auto top = build(folder + "/top++.so", header + R"(
              extern "C" int base();
              extern "C" int middle();
              extern "C" int set(int n) {
                variable = of_thread = single<int>() = n;
                return middle() ? base() : -1;
              })",
                           link(folder, "libmiddle++.so") + " " + link(folder, "libbase++.so") +
                               " -Wl,-rpath,'$ORIGIN'" + flags);
    auto first = newSpace(0), second = newSpace(1);
    EXPECT_EQ(call((*first)->load(top), "set", 1), 3) << unique;
    EXPECT_EQ(call((*second)->load(top), "set", 2), 6) << unique;
    EXPECT_EQ(call((*first)->load(bench_ / folder / "libbase++.so"), "base"), 3) << unique;
  }
}

TEST_P(DependenciesTest, ADiamondHasOneBase) {
  const std::string d = "site-packages";
  const std::string find = " -Wl,-rpath,'$ORIGIN' ";
  build(d + "/libbase.so", kCounter, "-Wl,-soname,libbase.so");
  build(d + "/libleft.so", "int count(void); int left(void) { return count(); }",
        link(d, "libbase.so") + find + "-Wl,-soname,libleft.so");
  build(d + "/libright.so", "int count(void); int right(void) { return count(); }",
        link(d, "libbase.so") + find + "-Wl,-soname,libright.so");
  const auto top = build(
      d + "/top.so", "int left(void), right(void); int top(void) { return 10 * left() + right(); }",
      link(d, "libleft.so") + " " + link(d, "libright.so") + find);
  auto first = newSpace(0), second = newSpace(1);
  EXPECT_EQ(call((*first)->load(top), "top"), 12);
  EXPECT_EQ(call((*second)->load(top), "top"), 12);
}

TEST_P(DependenciesTest, LibrariesThatNeedEachOtherLoad) {
  const std::string d = "site-packages";
  const std::string find = " -Wl,-rpath,'$ORIGIN' ";
  // Three in a ring, the first entered from outside; each calls the next one.
  build(d + "/libtwo.so", "int two(int);", "-Wl,-soname,libtwo.so");
  build(d + "/libone.so", "int two(int); int one(int n) { return n ? 1 + two(n - 1) : 0; }",
        "-Wl,--no-as-needed " + link(d, "libtwo.so") + find + "-Wl,-soname,libone.so");
  build(d + "/libthree.so", "int one(int); int three(int n) { return n ? 100 + one(n - 1) : 0; }",
        "-Wl,--allow-shlib-undefined " + link(d, "libone.so") + find + "-Wl,-soname,libthree.so");
  build(d + "/libtwo.so", "int three(int); int two(int n) { return n ? 10 + three(n - 1) : 0; }",
        "-Wl,--allow-shlib-undefined " + link(d, "libthree.so") + find + "-Wl,-soname,libtwo.so");
  const auto top = build(d + "/top.so", "int one(int); int top(void) { return one(6); }",
                         "-Wl,--allow-shlib-undefined " + link(d, "libone.so") + find);
  for (int slot = 0; slot < 2; ++slot) {
    auto space = newSpace(slot);
    EXPECT_EQ(call((*space)->load(top), "top"), 222);
    // Each of them by itself, afterwards, is the one that is there.
    void* two = (*space)->load(bench_ / (d + "/libtwo.so"));
    EXPECT_EQ(addressOf(two, "two"), addressOf((*space)->load(top), "two"));
    EXPECT_EQ((*space)->unload(), 0u);
  }
}

TEST_P(DependenciesTest, LinkedLibrariesFindTheirDependenciesBesideTheLink) {
  // As in a linked environment: the files themselves lie scattered elsewhere.
  const auto base = build("store/a/libbase.so", kCounter, "-Wl,-soname,libbase.so");
  const auto top = build("store/b/top.so", "int count(void); int top(void) { return count(); }",
                         link("store/a", "libbase.so") + " -Wl,-rpath,'$ORIGIN'");
  std::filesystem::create_directories(bench_ / "site-packages");
  std::filesystem::create_symlink(base, bench_ / "site-packages/libbase.so");
  std::filesystem::create_symlink(top, bench_ / "site-packages/top.so");
  auto first = newSpace(0), second = newSpace(1);
  EXPECT_EQ(call((*first)->load(bench_ / "site-packages/top.so"), "top"), 1);
  EXPECT_EQ(call((*second)->load(bench_ / "site-packages/top.so"), "top"), 1);
}

TEST_P(DependenciesTest, AFileWrittenAnewIsAnotherLibrary) {
  auto library = build("site-packages/version.so", "int version(void) { return 1; }");
  auto first = newSpace(0);
  EXPECT_EQ(call((*first)->load(library), "version"), 1);
  std::filesystem::remove(library);
  build("site-packages/version.so", "int version(void) { return 2; }");
  auto second = newSpace(1);
  EXPECT_EQ(call((*second)->load(library), "version"), 2);
}

}  // namespace
}  // namespace multipy::loader::testing
