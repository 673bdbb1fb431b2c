// What a private library sees: its own data, its own interpreter, and what it
// finds by name.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "loader/private_space_fixture.h"
#include "runtime/forked_children.h"

// This program brings its own "CPython", in the global scope: it is linked with
// -rdynamic, as programs with an embedded Python are.
extern "C" __attribute__((visibility("default"))) const char* PyThing_Who() { return "host"; }
extern "C" __attribute__((visibility("default"))) int _PyThing_Count() { return -1; }
extern "C" __attribute__((visibility("default"))) const char* PyHost_Only() { return "host"; }

namespace multipy::loader::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Copies, PrivateSpaceTest, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "inMemory" : "onDisk"; });

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
  EXPECT_TRUE(beginsWith(errorOf([&] { (*space)->load(library); }),
                         library.string() + ": undefined symbol: PyHost_Only"));
  const auto optional = build("site-packages/optional.so", R"(
      __attribute__((weak)) const char* PyHost_Only(void);
      int has(void) { return PyHost_Only != 0; })");
  EXPECT_EQ(call((*space)->load(optional), "has"), 0);
}

TEST_P(PrivateSpaceTest, NamesLikeTheCApiThatAnotherPrivateLibraryDefinesAreFoundThere) {
  build("site-packages/libbinding.so", "int PyBinding_Version(void) { return 6; }",
        "-Wl,-soname,libbinding.so");
  const auto user =
      build("site-packages/user.so",
            "int PyBinding_Version(void); int v(void) { return PyBinding_Version(); }",
            link("site-packages", "libbinding.so") + " -Wl,-rpath,'$ORIGIN'");
  auto space = newSpace(0);
  EXPECT_EQ(call((*space)->load(user), "v"), 6);
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
      )",
                             "-Wl,-rpath,'$ORIGIN/plugins'");
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
  EXPECT_TRUE(contains(errorOf([&] { (*first)->open("libmissing.so", RTLD_NOW, nullptr); }),
                       "libmissing.so: cannot open shared object file: No such file"));
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

// ctypes.CDLL(None).dlopen, cffi's dlopen(None).getenv, what a JIT looks up.
TEST_P(PrivateSpaceTest, WhatIsReplacedForPrivateCodeIsReplacedAlsoByName) {
  const auto library = build("site-packages/libown.so", "int system(const char* c) { return 77; }");
  auto space = newSpace(0);
  void* const own = (*space)->load(library);
  void* const libc = (*space)->open("libc.so.6", RTLD_NOW, nullptr);
  for (const std::string name : {"dlopen", "getenv", "pthread_create", "system"}) {
    void* const ours = addressOf(space->interpreter(), ("multipy_" + name).c_str());
    for (void* const handle : {RTLD_DEFAULT, RTLD_NEXT, space->interpreter(), libc})
      EXPECT_EQ((*space)->symbol(handle, name.c_str(), nullptr), ours) << name;
  }
  EXPECT_EQ((*space)->symbol(libc, "getpid", nullptr), reinterpret_cast<void*>(&::getpid));
  EXPECT_EQ((*space)->symbol(own, "system", nullptr), addressOf(own, "system")) << "its own";
}

TEST_P(PrivateSpaceTest, DladdrInPrivateCodeNamesTheOriginal) {
  const auto library = build("site-packages/where.so", R"(
      #define _GNU_SOURCE
      #include <dlfcn.h>
      const char* where(void) {
        static Dl_info info;
        return dladdr(where, &info) ? info.dli_fname : 0;
      })");
  auto space = newSpace(0);
  void* handle = (*space)->load(library);
  EXPECT_EQ(call<const char*>(handle, "where"), library.string());
  EXPECT_EQ((*space)->originalOf("/no/such/copy"), nullptr);
}

// threadpoolctl finds the libraries of linear algebra so.
TEST_P(PrivateSpaceTest, WhoWalksOverAllLibrariesMeetsThoseOfNoOtherSpace) {
  const auto library = build("site-packages/walker.so", R"(
      #define _GNU_SOURCE
      #include <link.h>
      #include <string.h>
      static int seen(struct dl_phdr_info* object, size_t size, void* what) {
        return strstr(object->dlpi_name, what) != 0;
      }
      static int add(struct dl_phdr_info* object, size_t size, void* names) {
        strncat(names, object->dlpi_name, 60000 - strlen(names));
        strncat(names, "\n", 60000 - strlen(names));
        return 0;
      }
      int sees(const char* part) { return dl_iterate_phdr(seen, (void*)part); }
      const char* all(void) {
        static char names[65536];
        names[0] = 0;
        dl_iterate_phdr(add, names);
        return names;
      })");
  const auto shared = build("elsewhere/libshared.so", kCounter);
  auto one = newSpace(0), other = newSpace(1);
  void* const walker = (*one)->load(library);
  void* const secondWalker = (*other)->load(library);
  (*other)->load(build("site-packages/others.so", kCounter));
  (*one)->load(build("site-packages/mine.so", kCounter));
  (*one)->load(shared);
  const auto count = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++found;
    return found;
  };
  const std::string names = call<const char*>(walker, "all");
  EXPECT_EQ(count(names, library.string() + "\n"), 1) << names;
  EXPECT_EQ(count(names, "/mine.so\n"), 1) << names;
  EXPECT_EQ(count(names, "others.so"), 0) << names;
  EXPECT_EQ(count(names, shared.string() + "\n"), 1) << names;
  EXPECT_EQ(count(names, "/libc.so.6\n"), 1) << names;
  EXPECT_EQ(call(walker, "sees", "/mine.so"), 1) << "what the function returns ends the walk";
  EXPECT_EQ(call(secondWalker, "sees", "/mine.so"), 0);
  EXPECT_EQ(call(secondWalker, "sees", "/others.so"), 1);
}

TEST_P(PrivateSpaceTest, ChildrenOfForkLookNamesUpWhateverOtherThreadsDid) {
  auto one = newSpace(0), other = newSpace(1);
  (*one)->load(build("site-packages/copied.so", kCounter));
  (*other)->load(build("site-packages/copied.so", kCounter));
  const std::string copy = (*one)->loaded().back().copy.string();
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  for (int thread = 0; thread < 2; ++thread) {
    busy.emplace_back([&] {
      while (!stop)
        (*other)->eachObject([](dl_phdr_info*, std::size_t, void*) { return 0; }, nullptr);
    });
    busy.emplace_back([&] {
      while (!stop) (*one)->originalOf(copy.c_str());
    });
  }
  testing_support::expectChildrenToEnd(30, [&] {
    ::alarm(10);  // ends one that waits
    return (*one)->originalOf(copy.c_str()) && (*one)->open(copy.c_str(), RTLD_NOW, nullptr) ? 0
                                                                                             : 1;
  });
  stop = true;
  for (std::thread& thread : busy) thread.join();
}

TEST_P(PrivateSpaceTest, CopiesThatAreFoundInTheProcessOpenForTheirOwnSpace) {
  const auto library = build("site-packages/copied.so", kCounter);
  auto one = newSpace(0), other = newSpace(1);
  void* const handle = (*one)->load(library);
  (*other)->load(library);
  const std::string copy = (*one)->loaded().back().copy.string();
  ASSERT_NE(copy, (*other)->loaded().back().copy.string());
  for (const int flags : {RTLD_NOW, RTLD_NOW | RTLD_NOLOAD})
    EXPECT_EQ((*one)->open(copy.c_str(), flags, nullptr), handle);
  EXPECT_EQ((*other)->open(copy.c_str(), RTLD_NOW | RTLD_NOLOAD, nullptr), nullptr);
  if (!GetParam()) {
    const std::string spelt = copy.substr(0, copy.rfind('/')) + "/." + copy.substr(copy.rfind('/'));
    EXPECT_EQ((*one)->open(spelt.c_str(), RTLD_NOW, nullptr), handle);
    EXPECT_EQ((*other)->open(spelt.c_str(), RTLD_NOW | RTLD_NOLOAD, nullptr), nullptr);
  }
  const std::string error = errorOf([&] { (*other)->open(copy.c_str(), RTLD_NOW, nullptr); });
  EXPECT_NE(error.find(copy), std::string::npos) << error;
  EXPECT_NE(error.find("another interpreter's private copy"), std::string::npos) << error;
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

TEST_P(PrivateSpaceTest, WhatAStaticInitialiserThrowsComesOutAndHoldsUpNoOtherThread) {
  const auto throws = build("site-packages/throws++.so", R"(
      #include <stdexcept>
      static struct Throwing {
        Throwing() { throw std::runtime_error("no licence"); }
      } throwing;
      extern "C" int never() { return 0; })");
  const auto counts = build("site-packages/counts.so", kCounter);
  const auto shared = build("elsewhere/throws++.so", R"(
      static struct Throwing { Throwing() { throw 1; } } throwing;
      extern "C" int never() { return 0; })");
  auto space = newSpace(0);
  EXPECT_THROW((*space)->load(throws), std::runtime_error);
  EXPECT_THROW((*space)->load(shared), int);
  // (These would wait for ever.)
  std::thread([&] { EXPECT_EQ(call((*space)->load(counts), "count"), 1); }).join();
  std::thread([&] { EXPECT_NE(::dlsym(RTLD_DEFAULT, "malloc"), nullptr); }).join();
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

}  // namespace
}  // namespace multipy::loader::testing
