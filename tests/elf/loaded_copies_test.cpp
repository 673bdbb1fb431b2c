// Copies at work: an original and its edited copies loaded side by side. To each
// of them everything happens as if it were the only one. Runs with libraries
// from each compiler and linker that is installed.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <typeinfo>

#include "tools.h"

namespace multipy::elf::testing {
namespace {

class LoadedCopies : public ::testing::TestWithParam<Toolchain> {
 protected:
  std::filesystem::path build(const std::string& source, const std::string& flags = "") {
    return shop.build(GetParam(), "original.so", source, flags);
  }
  Workshop shop;
};

// The original and two copies, in this order.
struct Three {
  Three(const Workshop& shop, const std::filesystem::path& original)
      : first(original), second(shop.copy(original, "a.so")), third(shop.copy(original, "b.so")) {}
  Loaded first, second, third;
};

TEST_P(LoadedCopies, HaveTheirOwnData) {
  const Three libraries(shop, build(R"(
      static int counter = 40;
      int exported = 0;
      static int* pointer = &exported;  // relocated: has to point at this copy's
      extern "C" int next() { ++*pointer; return ++counter + exported; })"));
  EXPECT_EQ(libraries.first.call("next"), 42);
  EXPECT_EQ(libraries.first.call("next"), 44);
  EXPECT_EQ(libraries.second.call("next"), 42);
  EXPECT_EQ(libraries.third.call("next"), 42);
  EXPECT_NE(libraries.first.symbol("exported"), libraries.second.symbol("exported"));
}

TEST_P(LoadedCopies, HaveTheirOwnThreadLocals) {
  const Three libraries(shop, build(R"(
      static thread_local int counter = 10;
      thread_local int zeroed[64];
      extern "C" int next() { return ++counter + ++zeroed[63]; })"));
  EXPECT_EQ(libraries.first.call("next"), 12);
  EXPECT_EQ(libraries.first.call("next"), 14);
  EXPECT_EQ(libraries.second.call("next"), 12);
  std::thread([&] {
    EXPECT_EQ(libraries.second.call("next"), 12);
    EXPECT_EQ(libraries.third.call("next"), 12);
  }).join();
  EXPECT_EQ(libraries.second.call("next"), 14);
}

TEST_P(LoadedCopies, RunTheirOwnInitialisersAndFinalisers) {
  const auto original = build(R"(
      static int* log;
      struct Guard { int ready = 7; ~Guard() { if (log) ++*log; } } guard;
      __attribute__((destructor)) static void last() { if (log) *log += 10; }
      extern "C" void watch(int* where) { log = where; }
      extern "C" int ready() { return guard.ready; })");
  int log = 0;
  const auto copy = shop.copy(original, "copy.so");
  {
    const Loaded library(copy);
    EXPECT_EQ(library.call("ready"), 7);
    library.call<void>("watch", &log);
  }
  EXPECT_EQ(log, 11);
  EXPECT_FALSE(Loaded::isMapped(copy));
}

TEST_P(LoadedCopies, ResolveIndirectFunctions) {
  const Three libraries(shop, build(R"(
      static int resolved;
      static int implementation() { return 5; }
      extern "C" __attribute__((visibility("hidden"))) int (*choose())() { return implementation; }
      extern "C" int indirect() __attribute__((ifunc("choose")));
      extern "C" int call() { resolved += indirect(); return resolved; })"));
  EXPECT_EQ(libraries.first.call("call"), 5);
  EXPECT_EQ(libraries.second.call("call"), 5);
  EXPECT_EQ(libraries.second.call("call"), 10);
  EXPECT_EQ(libraries.third.call("indirect"), 5);
}

TEST_P(LoadedCopies, ThrowExceptionsToTheirCallers) {
  const Three libraries(shop, build(R"(
      #include <stdexcept>
      #include <string>
      struct Own : std::runtime_error { using runtime_error::runtime_error; };
      extern "C" void throwStandard() { throw std::out_of_range("standard"); }
      extern "C" int catchOwn() { try { throw Own("own"); } catch (const Own& e) { return e.what()[0]; } }
      extern "C" void through(void (*callback)()) { std::string cleanup(100, 'x'); callback(); })"));
  for (const Loaded* library : {&libraries.first, &libraries.second, &libraries.third}) {
    EXPECT_THROW(library->call<void>("throwStandard"), std::out_of_range);
    EXPECT_EQ(library->call("catchOwn"), 'o');
    EXPECT_THROW(library->call<void>(
                     "through", +[] { throw std::bad_cast(); }),
                 std::bad_cast);
  }
}

TEST_P(LoadedCopies, LetGoOfAnotherWhileItIsThere) {
  const auto original = build("extern \"C\" int seven() { return 7; }");
  const auto path = shop.copy(original, "a.so");
  const Loaded stays(shop.copy(original, "b.so"));
  { const Loaded goes(path); }
  EXPECT_FALSE(Loaded::isMapped(path));
  EXPECT_EQ(stays.call("seven"), 7);
}

TEST_P(LoadedCopies, CanBeCopiedAgain) {
  const auto original = build("static int counter; extern \"C\" int next() { return ++counter; }");
  const auto once = shop.copy(original, "once.so");
  const auto twice = shop.copy(once, "twice.so");
  const auto thrice = shop.copy(twice, "thrice.so", {.origin = "/somewhere/else"});
  const Loaded a(once), b(twice), c(thrice);
  EXPECT_EQ(a.call("next"), 1);
  EXPECT_EQ(a.call("next"), 2);
  EXPECT_EQ(b.call("next"), 1);
  EXPECT_EQ(c.call("next"), 1);
}

TEST_P(LoadedCopies, NeedEachOtherByTheirNewNames) {
  const auto base = shop.build(GetParam(), "libbase.so",
                               "static int counter; extern \"C\" int base() { return ++counter; }",
                               "-Wl,-soname,libbase.so");
  const auto user = build("extern \"C\" int base(); extern \"C\" int use() { return base(); }",
                          "-L. -lbase -Wl,-rpath,'$ORIGIN'");
  const auto set = [&](const std::string& folder) {
    const auto copiedBase = shop.copy(base, folder + "/libbase.so");
    return Loaded(shop.copy(user, folder + "/user.so", {.needed = {{"libbase.so", copiedBase}}}));
  };
  const Loaded plain(user), first = set("first"), second = set("second");
  EXPECT_EQ(plain.call("use"), 1);
  EXPECT_EQ(plain.call("use"), 2);
  EXPECT_EQ(first.call("use"), 1);
  EXPECT_EQ(second.call("use"), 1);
  EXPECT_EQ(first.call("use"), 2);
}

TEST_P(LoadedCopies, FindNeighboursOfTheOriginalThroughOrigin) {
  std::filesystem::create_directory(shop / "lib");
  shop.build(GetParam(), "lib/libneighbour.so", "extern \"C\" int neighbour() { return 3; }",
             "-Wl,-soname,libneighbour.so");
  for (const char* tags : {"--enable-new-dtags", "--disable-new-dtags"}) {
    SCOPED_TRACE(tags);
    const auto user =
        build("extern \"C\" int neighbour(); extern \"C\" int use() { return neighbour(); }",
              std::string("-Llib -lneighbour '-Wl,-rpath,/nowhere:${ORIGIN}/lib',") + tags);
    const auto lost = shop.copy(user, "elsewhere/user.so");
    EXPECT_THROW(Loaded{lost}, std::runtime_error);
    const auto found = shop.copy(user, "elsewhere/user2.so", {.origin = shop.folder()});
    EXPECT_EQ(Loaded(found).call("use"), 3);
  }
}

TEST_P(LoadedCopies, GetReferencesFromAnotherLibraryUnderAnotherName) {
  const auto provider = shop.build(GetParam(), "libprovider.so", R"(
      extern "C" int redirected_getpid() { return -1; }
      extern "C" int redirected_data = 77;)",
                                   "-Wl,-soname,libprovider.so");
  const auto user = build(R"(
      #include <unistd.h>
      extern "C" __attribute__((weak)) int data;
      extern "C" int pid() { return getpid(); }
      extern "C" int readData() { return &data ? data : 0; })");
  EXPECT_GT(Loaded(user).call("pid"), 0);
  EditReport report;
  const auto copy = shop.copy(user, "copy.so",
                              {.neededFirst = {provider},
                               .renameUndefined = [](std::string_view name) -> std::string {
                                 if (name == "getpid" || name == "data")
                                   return "redirected_" + std::string(name);
                                 return "";
                               }},
                              &report);
  EXPECT_EQ(report.renamed, (std::vector<std::string>{"data", "getpid"}));
  const Loaded library(copy);
  EXPECT_EQ(library.call("pid"), -1);
  EXPECT_EQ(library.call("readData"), 77);
}

TEST_P(LoadedCopies, GetTheirOwnExportedFunctionsFromElsewhere) {
  const auto provider =
      shop.build(GetParam(), "libprovider.so", "extern \"C\" int replaced() { return 2; }",
                 "-Wl,-soname,libprovider.so");
  const char* source = R"(
      extern "C" int api() { return 1; }
      static int (*const table[])() = {api};
      extern "C" int call() { return api() * 10 + table[0](); })";
  // With System V hashes alone, a lookup compares names and not hashes.
  for (const char* hashStyle : {"gnu", "sysv"}) {
    const auto user = build(
        source, std::string("-fno-inline -fsemantic-interposition -Wl,--hash-style=") + hashStyle);
    EXPECT_EQ(Loaded(user).call("call"), 11);
    const auto copy =
        shop.copy(user, std::string(hashStyle) + ".so",
                  {.neededFirst = {provider}, .renameDefined = {{"api", "replaced"}}});
    const Loaded library(copy);
    EXPECT_EQ(library.call("call"), 22) << hashStyle;
    EXPECT_THROW(library.symbol("api"), std::runtime_error);
  }
}

INSTANTIATE_TEST_SUITE_P(With, LoadedCopies, ::testing::ValuesIn(toolchains),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace multipy::elf::testing
