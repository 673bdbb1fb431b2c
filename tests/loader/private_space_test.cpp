// What a private library sees: its own data, the right dependencies, its own
// interpreter; and that it goes away again.
#include "loader/private_space.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "loader/texts.h"
#include "loader/workbench.h"
#include "multipy/runtime/Exception.h"

// This program brings its own "CPython", in the global scope: it is linked with
// -rdynamic, as programs with an embedded Python are.
extern "C" __attribute__((visibility("default"))) const char* PyThing_Who() { return "host"; }
extern "C" __attribute__((visibility("default"))) int _PyThing_Count() { return -1; }
extern "C" __attribute__((visibility("default"))) const char* PyHost_Only() { return "host"; }

namespace multipy::loader::testing {
namespace {

constexpr const char* kCounter = "int count(void) { static int n; return ++n; }";

/// With copies on disk and with copies in memory.
class PrivateSpaceTest : public ::testing::TestWithParam<bool> {
 protected:
  std::shared_ptr<IsolationPolicy> newPolicy() const {
    return std::make_shared<IsolationPolicy>(
        std::vector<std::filesystem::path>{bench_ / "site-packages"});
  }
  std::shared_ptr<CopyCache> newCache() const {
    return GetParam() ? CopyCache::inMemory() : CopyCache::in(bench_ / "cache");
  }
  std::unique_ptr<LivingSpace> newSpace(int slot) const {
    return std::make_unique<LivingSpace>(bench_, slot, policy_, cache_);
  }
  std::filesystem::path build(const std::string& name, const std::string& source,
                              const std::string& flags = "") const {
    return bench_.build(name, source, flags);
  }
  /// "-lNAME" from a directory below the bench.
  std::string link(const std::string& directory, const std::string& library) const {
    return "-L'" + (bench_ / directory).string() + "' -l:" + library;
  }

  Workbench bench_;
  std::shared_ptr<IsolationPolicy> policy_ = newPolicy();
  std::shared_ptr<CopyCache> cache_ = newCache();
};

INSTANTIATE_TEST_SUITE_P(Copies, PrivateSpaceTest, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "inMemory" : "onDisk"; });

std::string errorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const runtime::LoadError& error) {
    return error.what();
  }
  return "no error";
}

TEST_P(PrivateSpaceTest, EachSlotHasItsOwnData) {
  const auto library = build("site-packages/counter.so", kCounter);
  auto first = newSpace(0), second = newSpace(1);
  void* inFirst = (*first)->load(library);
  void* inSecond = (*second)->load(library);
  EXPECT_NE(inFirst, inSecond);
  EXPECT_EQ(call(inFirst, "count"), 1);
  EXPECT_EQ(call(inFirst, "count"), 2);
  EXPECT_EQ(call(inSecond, "count"), 1);
  EXPECT_EQ((*first)->load(library), inFirst);
}

TEST_P(PrivateSpaceTest, SystemLibrariesAreShared) {
  const auto library = build("elsewhere/libcounter.so", kCounter);
  auto first = newSpace(0), second = newSpace(1);
  EXPECT_EQ(call((*first)->load(library), "count"), 1);
  EXPECT_EQ(call((*second)->load(library), "count"), 2);
}

TEST_P(PrivateSpaceTest, CApiNamesAreTheInterpretersThoughTheProgramHasSome) {
  const auto library = build("site-packages/api.so", R"(
      const char* PyThing_Who(void);
      int _PyThing_Count(void);
      const char* who(void) { return PyThing_Who(); }
      const char* (*pointer)(void) = PyThing_Who;
      const char* whoByPointer(void) { return pointer(); }
      int count(void) { return _PyThing_Count(); })");
  auto first = newSpace(0), second = newSpace(1);
  void* inFirst = (*first)->load(library);
  EXPECT_STREQ(call<const char*>(inFirst, "who"), "interpreter");
  EXPECT_STREQ(call<const char*>(inFirst, "whoByPointer"), "interpreter");
  EXPECT_EQ(call(inFirst, "count"), 1);
  EXPECT_EQ(call(inFirst, "count"), 2);
  EXPECT_EQ(call((*second)->load(library), "count"), 1) << "each interpreter counts for itself";
}

TEST_P(PrivateSpaceTest, ANameThatOnlyTheProgramsCPythonHasIsNotFoundThere) {
  const auto library = build("site-packages/newer.so", R"(
      const char* PyHost_Only(void);
      const char* who(void) { return PyHost_Only(); })");
  auto space = newSpace(0);
  EXPECT_TRUE(beginsWith(errorOf([&] { (*space)->load(library); }), library.string() + ": undefined symbol: PyHost_Only"));
  const auto optional = build("site-packages/optional.so", R"(
      __attribute__((weak)) const char* PyHost_Only(void);
      int has(void) { return PyHost_Only != 0; })");
  EXPECT_EQ(call((*space)->load(optional), "has"), 0);
}

TEST_P(PrivateSpaceTest, NamesLikeTheCApiThatAnotherPrivateLibraryDefinesAreFoundThere) {
  build("site-packages/libbinding.so", "int PyBinding_Version(void) { return 6; }",
        "-Wl,-soname,libbinding.so");
  const auto user = build("site-packages/user.so",
                          "int PyBinding_Version(void); int v(void) { return PyBinding_Version(); }",
                          link("site-packages", "libbinding.so") + " -Wl,-rpath,'$ORIGIN'");
  auto space = newSpace(0);
  EXPECT_EQ(call((*space)->load(user), "v"), 6);
}

TEST_P(PrivateSpaceTest, UsersOfTheCApiArePrivateWhereverTheyLieAndSoAreTheirUsers) {
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

TEST_P(PrivateSpaceTest, DependenciesAreFoundThroughRunpathAndRpath) {
  for (const std::string tag : {"--enable-new-dtags", "--disable-new-dtags"}) {
    const std::string d = "site-packages/" + tag;
    build(d + "/libs/libbase.so", kCounter, "-Wl,-soname,libbase.so");
    build(d + "/libs/libmiddle.so", "int count(void); int middle(void) { return count(); }",
          link(d + "/libs", "libbase.so") + " -Wl,-soname,libmiddle.so -Wl," + tag +
              " -Wl,-rpath,'$ORIGIN'");
    const auto top = build(d + "/top.so", "int middle(void); int top(void) { return middle(); }",
                           link(d + "/libs", "libmiddle.so") + " -Wl,-rpath-link,'" +
                               (bench_ / d).string() + "/libs' -Wl," + tag +
                               " -Wl,-rpath,'${ORIGIN}/libs'");
    auto first = newSpace(0), second = newSpace(1);
    EXPECT_EQ(call((*first)->load(top), "top"), 1);
    EXPECT_EQ(call((*first)->load(top), "top"), 2);
    EXPECT_EQ(call((*second)->load(top), "top"), 1);
    EXPECT_EQ((*first)->loaded().size(), 4u);
  }
}

TEST_P(PrivateSpaceTest, DependenciesAreFoundThroughTheRpathOfWhoNeedsTheirUser) {
  build("site-packages/libs/libprivate.so", kCounter, "-Wl,-soname,libprivate.so");
  build("shared/libshared.so", "int shared(void) { static int n; return ++n; }",
        "-Wl,-soname,libshared.so");
  build("site-packages/libs/libmiddle.so",
        "int count(void); int shared(void); int m(void) { return 10 * shared() + count(); }",
        link("site-packages/libs", "libprivate.so") + " " + link("shared", "libshared.so") +
            " -Wl,-soname,libmiddle.so");
  const auto top = build(
      "site-packages/top.so", "int m(void); int top(void) { return m(); }",
      link("site-packages/libs", "libmiddle.so") +
          " -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN/libs:" +
          (bench_ / "shared").string() + "'");
  auto first = newSpace(0), second = newSpace(1);
  EXPECT_EQ(call((*first)->load(top), "top"), 11);
  EXPECT_EQ(call((*second)->load(top), "top"), 21) << "libshared is shared, libprivate is not";
}

TEST_P(PrivateSpaceTest, SharedLibrariesAreNotBoundToThePrivateOnesThatBringThem) {
  // Both define an inline function; as a dependency of the private library, the
  // shared one would call the private one's.
  const std::string d = GetParam() ? "bound1" : "bound2";
  const char* name = "__attribute__((weak)) const char* which(void)";
  build(d + "/libshared.so", std::string(name) + " { return \"shared\"; }"
        "const char* ofShared(void) { return which(); }", "-Wl,-soname,libshared-" + d + ".so");
  std::filesystem::copy_file(bench_ / (d + "/libshared.so"), bench_ / (d + "/libshared-" + d + ".so"));
  const auto library = build("site-packages/inline.so", std::string(name) +
      " { return \"private\"; } const char* ofShared(void);"
      "const char* get(void) { return ofShared(); }",
      link(d, "libshared.so") + " -Wl,-rpath,'" + (bench_ / d).string() + "'");
  auto space = newSpace(0);
  EXPECT_STREQ(call<const char*>((*space)->load(library), "get"), "shared");
  EXPECT_EQ((*space)->unload(), 0u);
}

TEST_P(PrivateSpaceTest, ADiamondHasOneBase) {
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

TEST_P(PrivateSpaceTest, LibrariesThatNeedEachOtherLoad) {
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

TEST_P(PrivateSpaceTest, DlopenInPrivateCodeFollowsThePolicyAndTheCallersRunpath) {
  build("site-packages/plugins/libplugin.so", kCounter, "-Wl,-soname,libplugin.so");
  const auto library = build("site-packages/opener.so", R"(
      #include <dlfcn.h>
      int viaPlugin(void) {
        void* plugin = dlopen("libplugin.so", RTLD_NOW | RTLD_GLOBAL);
        return plugin ? ((int (*)(void))dlsym(plugin, "count"))() : -1;
      }
      void* again(void) { return dlopen("libplugin.so", RTLD_NOW | RTLD_NOLOAD); }
      void* program(void) { return dlopen(0, RTLD_NOW); }
      void* libpython(void) { return dlopen("libpython3.11.so.1.0", RTLD_NOW); }
      void* missing(void) { return dlopen("libmissing.so", RTLD_NOW); }
      )", "-Wl,-rpath,'$ORIGIN/plugins'");
  auto first = newSpace(0), second = newSpace(1);
  void* inFirst = (*first)->load(library);
  EXPECT_EQ(call<void*>(inFirst, "again"), nullptr) << "RTLD_NOLOAD loads nothing";
  EXPECT_EQ(call(inFirst, "viaPlugin"), 1);
  EXPECT_EQ(call(inFirst, "viaPlugin"), 2);
  EXPECT_NE(call<void*>(inFirst, "again"), nullptr);
  EXPECT_EQ(call((*second)->load(library), "viaPlugin"), 1);
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, "count"), nullptr) << "RTLD_GLOBAL is for shared ones only";
  EXPECT_EQ(call<void*>(inFirst, "program"), first->interpreter());
  EXPECT_EQ(call<void*>(inFirst, "libpython"), first->interpreter());
  EXPECT_EQ(call<void*>(inFirst, "missing"), nullptr);
  EXPECT_TRUE(contains(errorOf([&] { (*first)->open("libmissing.so", RTLD_NOW, nullptr); }), "libmissing.so: cannot open shared object file: No such file"));
}

TEST_P(PrivateSpaceTest, SharedLibrariesOpenedGloballyAreGlobal) {
  // Found once in the global scope, glibc keeps it for ever: a name for each run.
  const std::string name = GetParam() ? "multipy_test_global1" : "multipy_test_global2";
  const auto library = build("elsewhere/libglobal.so", "int " + name + "(void) { return 7; }");
  auto space = newSpace(0);
  void* local = (*space)->open(library.c_str(), RTLD_NOW | RTLD_LOCAL, nullptr);
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, name.c_str()), nullptr);
  EXPECT_EQ((*space)->open(library.c_str(), RTLD_NOW | RTLD_GLOBAL, nullptr), local);
  EXPECT_NE(::dlsym(RTLD_DEFAULT, name.c_str()), nullptr);
}

TEST_P(PrivateSpaceTest, DlsymInPrivateCodeLooksIntoItsInterpreterFirst) {
  build("site-packages/libdependency.so", "int dependency(void) { return 5; }",
        "-Wl,-soname,libdependency.so");
  const auto library = build("site-packages/lookup.so", R"(
      #define _GNU_SOURCE
      #include <dlfcn.h>
      int dependency(void);
      int own(void) { return dependency(); }
      void* find(const char* name) { return dlsym(RTLD_DEFAULT, name); }
      void* findIn(void* handle, const char* name) { return dlsym(handle, name); })",
                             link("site-packages", "libdependency.so") + " -Wl,-rpath,'$ORIGIN'");
  auto space = newSpace(0);
  void* handle = (*space)->load(library);
  const auto find = [&](const char* name) { return call<void*>(handle, "find", name); };
  EXPECT_EQ(find("PyThing_Who"), addressOf(space->interpreter(), "PzThing_Who"));
  EXPECT_EQ(find("PyHost_Only"), nullptr) << "that is another CPython's";
  EXPECT_EQ(find("own"), addressOf(handle, "own"));
  EXPECT_EQ(find("dependency"), addressOf(handle, "dependency"));
  EXPECT_EQ(find("malloc"), ::dlsym(RTLD_DEFAULT, "malloc"));
  EXPECT_EQ(find("multipy_test_no_such_name"), nullptr);
  EXPECT_EQ(call<void*>(handle, "findIn", space->interpreter(), "_PyThing_Count"),
            addressOf(space->interpreter(), "_PzThing_Count"));
  EXPECT_EQ(call<void*>(handle, "findIn", handle, "PyThing_Who"),
            addressOf(space->interpreter(), "PzThing_Who"))
      << "through a private library's own handle";
  EXPECT_EQ(::dlerror(), nullptr) << "what was tried and not found leaves no error";
}

TEST_P(PrivateSpaceTest, DladdrInPrivateCodeNamesTheOriginal) {
  const auto library = build("site-packages/where.so", R"(
      #define _GNU_SOURCE
      #include <dlfcn.h>
      const char* where(void) { static Dl_info info; return dladdr(where, &info) ? info.dli_fname : 0; })");
  auto space = newSpace(0);
  void* handle = (*space)->load(library);
  EXPECT_EQ(call<const char*>(handle, "where"), library.string());
  EXPECT_EQ((*space)->originalOf("/no/such/copy"), nullptr);
}

TEST_P(PrivateSpaceTest, StaticInitialisersMayLoadAndLookUp) {
  build("site-packages/libinner.so", kCounter, "-Wl,-soname,libinner.so");
  const auto library = build("site-packages/eager++.so", R"(
      #include <dlfcn.h>
      extern "C" int count();
      static int loaded = -1, found = -1;
      static bool self = false;
      __attribute__((constructor)) static void initialise() {
        void* inner = dlopen("libinner.so", RTLD_NOW);
        if (inner) loaded = reinterpret_cast<int (*)()>(dlsym(inner, "count"))();
        found = dlsym(RTLD_DEFAULT, "PyThing_Who") != nullptr;
        Dl_info me;  // and what is still being loaded
        self = dladdr(&loaded, &me) && dlopen(me.dli_fname, RTLD_NOW);
      }
      extern "C" int result() { return self ? 10 * loaded + found : -1; })",
                             "-Wl,-rpath,'$ORIGIN'");
  auto space = newSpace(0);
  EXPECT_EQ(call((*space)->load(library), "result"), 11);
  EXPECT_EQ((*space)->unload(), 0u);
}

TEST_P(PrivateSpaceTest, OverridesDecideFirst) {
  const auto pinned = build("site-packages/pinned.so", kCounter);
  const auto system = build("elsewhere/libsystem.so", kCounter);
  policy_->override("pinned*", Isolation::Shared);
  policy_->override((bench_ / "elsewhere").string() + "/*", Isolation::Private);
  auto first = newSpace(0), second = newSpace(1);
  EXPECT_EQ(call((*first)->load(pinned), "count"), 1);
  EXPECT_EQ(call((*second)->load(pinned), "count"), 2);
  EXPECT_EQ(call((*first)->load(system), "count"), 1);
  EXPECT_EQ(call((*second)->load(system), "count"), 1);
  EXPECT_EQ((*first)->loaded()[1].reason, "is overridden by the pattern \"pinned*\"");
}

TEST_P(PrivateSpaceTest, LinkedLibrariesFindTheirDependenciesBesideTheLink) {
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

TEST_P(PrivateSpaceTest, UnloadingLeavesNoMappingAndTheSlotCanBeUsedAgain) {
  // A C++ library with a template's static, which compilers make STB_GNU_UNIQUE.
  build("site-packages/libbase++.so", R"(
      #include <string>
      template <class T> struct Counter { static int next() { static int n; return ++n; } };
      extern "C" int next() { return Counter<std::string>::next(); })",
        "-Wl,-soname,libbase++.so");
  const auto top = build("site-packages/top++.so", R"(
      #include <string>
      template <class T> struct Counter { static int next() { static int n; return ++n; } };
      extern "C" int next();
      extern "C" int top() { return next(); }
      extern "C" int own() { return Counter<std::string>::next(); })",
                         link("site-packages", "libbase++.so") + " -Wl,-rpath,'$ORIGIN'");
  const int others = mappingsOf("libinterpreter.so");  // left by other tests
  for (int round = 0; round < 3; ++round) {
    auto first = newSpace(0), second = newSpace(1), third = newSpace(2);
    EXPECT_EQ(call((*first)->load(top), "top"), 1);
    EXPECT_EQ(call((*second)->load(top), "top"), 1);
    EXPECT_EQ(call((*third)->load(top), "top"), 1);
    EXPECT_EQ(call((*third)->load(top), "top"), 2);
    EXPECT_GT(mappingsOf("libbase++.so"), 0);
    EXPECT_EQ((*second)->unload(), 0u);
    EXPECT_EQ(call((*third)->load(top), "top"), 3) << "the others go on";
    EXPECT_EQ((*first)->unload(), 0u);
    EXPECT_EQ((*third)->unload(), 0u);
    EXPECT_EQ(mappingsOf("top++.so"), 0);
    EXPECT_EQ(mappingsOf("libbase++.so"), 0);
    EXPECT_EQ(mappingsOf("libinterpreter.so"), others);
    EXPECT_TRUE(contains(errorOf([&] { (*first)->load(top); }), "it has been unloaded"));
  }
}

TEST_P(PrivateSpaceTest, WhatCannotBeUnloadedIsCountedAndNotMetAgain) {
  const auto library = build("site-packages/sticky.so", kCounter, "-Wl,-z,nodelete");
  for (int round = 0; round < 3; ++round) {
    auto space = newSpace(9);
    EXPECT_EQ(call((*space)->load(library), "count"), 1) << "round " << round;
    EXPECT_GT((*space)->unload(), 0u);
  }
  {
    PrivateSpace space(9, policy_, cache_, nullptr);
    space.loadInterpreter(bench_.standIn());
    EXPECT_EQ(call(space.load(library), "count"), 1);
  }  // destroyed without unload(): everything stays
  auto space = newSpace(9);
  EXPECT_EQ(call((*space)->load(library), "count"), 1);
}

TEST_P(PrivateSpaceTest, AFileWrittenAnewIsAnotherLibrary) {
  auto library = build("site-packages/version.so", "int version(void) { return 1; }");
  auto first = newSpace(0);
  EXPECT_EQ(call((*first)->load(library), "version"), 1);
  std::filesystem::remove(library);
  build("site-packages/version.so", "int version(void) { return 2; }");
  auto second = newSpace(1);
  EXPECT_EQ(call((*second)->load(library), "version"), 2);
}

TEST_P(PrivateSpaceTest, ErrorsNameTheLibraryAndTheCause) {
  auto space = newSpace(0);
  EXPECT_TRUE(beginsWith(errorOf([&] { (*space)->load("/no/such/library.so"); }), "/no/such/library.so: cannot open shared object file: No such file"));
  EXPECT_TRUE(contains(errorOf([&] { (*space)->load(bench_ / ""); }), "not a regular file"));

  bench_.write("site-packages/text.so", "this is no shared object");
  EXPECT_THROW((*space)->load(bench_ / "site-packages/text.so"), runtime::ElfError);

  const auto lacking = build("site-packages/lacking.so", "int no(void); int f(void) { return no(); }");
  EXPECT_TRUE(beginsWith(errorOf([&] { (*space)->load(lacking); }), lacking.string() + ": undefined symbol: no"));

  build("site-packages/libgone.so", "int gone(void) { return 0; }", "-Wl,-soname,libgone.so");
  const auto orphan = build("site-packages/orphan.so", "int gone(void); int f(void) { return gone(); }",
                            link("site-packages", "libgone.so") + " -Wl,-rpath,'$ORIGIN'");
  std::filesystem::remove(bench_ / "site-packages/libgone.so");
  const std::string error = errorOf([&] { (*space)->load(orphan); });
  EXPECT_TRUE(beginsWith(error, orphan.string()));
  EXPECT_TRUE(contains(error, "libgone.so: cannot open shared object file"));
  // It is no error for ever: once the dependency is there, the library loads.
  build("site-packages/libgone.so", "int gone(void) { return 3; }", "-Wl,-soname,libgone.so");
  EXPECT_EQ(call((*space)->load(orphan), "f"), 3);
}

TEST_P(PrivateSpaceTest, ExhaustedStaticTlsSaysWhatToDo) {
  const auto library = build("site-packages/tls.so",
                             "__thread char room[100000] __attribute__((tls_model(\"initial-exec\")));"
                             "char* get(void) { return room; }");
  auto space = newSpace(0);
  const std::string error = errorOf([&] { (*space)->load(library); });
  EXPECT_TRUE(contains(error, "cannot allocate memory in static TLS block"));
  EXPECT_TRUE(contains(error, "GLIBC_TUNABLES=glibc.rtld.optional_static_tls="));
}

TEST_P(PrivateSpaceTest, MisuseIsAnError) {
  auto space = newSpace(4);
  EXPECT_THROW(newSpace(4), runtime::InvalidArgument);
  EXPECT_THROW(newSpace(-1), runtime::InvalidArgument);
  EXPECT_THROW((*space)->loadInterpreter(bench_.standIn()), runtime::InternalError);
  EXPECT_THROW(PrivateSpace(5, nullptr, cache_, nullptr), runtime::InvalidArgument);
  PrivateSpace empty(5, policy_, cache_, nullptr);
  EXPECT_THROW(empty.load(build("site-packages/any.so", kCounter)), runtime::LoadError);
  const auto incomplete = readBytes(build("incomplete.so", "int PzThing_Who(void) { return 0; }"));
  EXPECT_THROW(empty.loadInterpreter(incomplete), runtime::InternalError);
}

}  // namespace
}  // namespace multipy::loader::testing
