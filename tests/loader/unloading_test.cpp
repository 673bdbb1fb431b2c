// How a private space ends, and how loading fails.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "loader/loaded_objects.h"
#include "loader/private_space_fixture.h"

namespace multipy::loader::testing {
namespace {

class UnloadingTest : public PrivateSpaceTest {};

INSTANTIATE_TEST_SUITE_P(Copies, UnloadingTest, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "inMemory" : "onDisk"; });

TEST_P(UnloadingTest, UnloadingLeavesNoMappingAndTheSlotCanBeUsedAgain) {
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

TEST_P(UnloadingTest, WhatCannotBeUnloadedIsCountedAndNotMetAgain) {
  const auto library = build("site-packages/sticky.so", kCounter, "-Wl,-z,nodelete");
  for (int round = 0; round < 3; ++round) {
    auto space = newSpace(9);
    EXPECT_EQ(call((*space)->load(library), "count"), 1) << "round " << round;
    EXPECT_GT((*space)->unload(), 0u);
  }
  {
    PrivateSpace space(InterpreterId(9), policy_, cache_, nullptr);
    space.loadInterpreter(bench_.standIn());
    EXPECT_EQ(call(space.load(library), "count"), 1);
  }  // destroyed without unload(): everything stays
  auto space = newSpace(9);
  EXPECT_EQ(call((*space)->load(library), "count"), 1);
}

// Libraries of CUDA's leave memory behind each time they are unloaded. What is shared without
// being known by its name goes with the last that has opened it: it may be a file made for once.
TEST_P(UnloadingTest, WhatIsSharedForItsNameStaysInTheProcess) {
  const auto known = build("libcufft.so", kCounter);
  const auto other = build("libother.so", kCounter);
  const auto asked = build("site-packages/libasked.so", kCounter);
  policy_->override("libasked.so", Isolation::Shared);
  for (int round = 1; round <= 3; ++round) {
    auto space = newSpace(0);
    EXPECT_EQ(call((*space)->load(known), "count"), round);
    EXPECT_EQ(call((*space)->load(other), "count"), 1);
    EXPECT_EQ(call((*space)->load(asked), "count"), 1);
    EXPECT_EQ((*space)->unload(), 0u);
    EXPECT_GT(mappingsOf("libcufft.so"), 0);
    EXPECT_EQ(mappingsOf("libother.so"), 0);
    EXPECT_EQ(mappingsOf("libasked.so"), 0);
  }
}

// A table that others put objects of theirs into, as pyarrow's compute functions are.
TEST_P(UnloadingTest, DestructorsRunWhileAllLibrariesAreThere) {
  build("site-packages/libtable.so", R"(
      static void (*entry)(void);
      void put(void (*function)(void)) { entry = function; }
      __attribute__((destructor)) static void clear(void) { entry(); })",
        "-Wl,-soname,libtable.so");
  const auto user = build("site-packages/user.so", R"(
      void put(void (*)(void));
      static int* seen;
      static void note(void) { ++*seen; }
      void watch(int* where) { seen = where; put(note); }
      __attribute__((destructor)) static void end(void) { *seen += 10; })",
                          link("site-packages", "libtable.so") + " -Wl,-rpath,'$ORIGIN'");
  auto space = newSpace(0);
  int seen = 0;
  call<void>((*space)->load(user), "watch", &seen);
  (*space)->runDestructors();
  EXPECT_EQ(seen, 11);
  EXPECT_GT(mappingsOf("libtable.so"), 0);
  EXPECT_EQ((*space)->unload(), 0u);
  EXPECT_EQ(seen, 11) << "each of them once";
}

TEST_P(UnloadingTest, ErrorsNameTheLibraryAndTheCause) {
  auto space = newSpace(0);
  EXPECT_TRUE(beginsWith(errorOf([&] { (*space)->load("/no/such/library.so"); }),
                         "/no/such/library.so: cannot open shared object file: No such file"));
  EXPECT_TRUE(contains(errorOf([&] { (*space)->load(bench_ / ""); }), "not a regular file"));

  bench_.write("site-packages/text.so", "this is no shared object");
  EXPECT_THROW((*space)->load(bench_ / "site-packages/text.so"), runtime::ElfError);

  const auto lacking =
      build("site-packages/lacking.so", "int no(void); int f(void) { return no(); }");
  EXPECT_TRUE(beginsWith(errorOf([&] { (*space)->load(lacking); }),
                         lacking.string() + ": undefined symbol: no"));

  build("site-packages/libgone.so", "int gone(void) { return 0; }", "-Wl,-soname,libgone.so");
  const auto orphan =
      build("site-packages/orphan.so", "int gone(void); int f(void) { return gone(); }",
            link("site-packages", "libgone.so") + " -Wl,-rpath,'$ORIGIN'");
  std::filesystem::remove(bench_ / "site-packages/libgone.so");
  const std::string error = errorOf([&] { (*space)->load(orphan); });
  EXPECT_TRUE(beginsWith(error, orphan.string()));
  EXPECT_TRUE(contains(error, "libgone.so: cannot open shared object file"));
  // It is no error for ever: once the dependency is there, the library loads.
  build("site-packages/libgone.so", "int gone(void) { return 3; }", "-Wl,-soname,libgone.so");
  EXPECT_EQ(call((*space)->load(orphan), "f"), 3);
}

TEST_P(UnloadingTest, ExhaustedStaticTlsSaysWhatToDo) {
  const auto library =
      build("site-packages/tls.so",
            "__thread char room[100000] __attribute__((tls_model(\"initial-exec\")));"
            "char* get(void) { return room; }");
  auto space = newSpace(0);
  const std::string error = errorOf([&] { (*space)->load(library); });
  EXPECT_TRUE(contains(error, "cannot allocate memory in static TLS block"));
  EXPECT_TRUE(contains(error, "GLIBC_TUNABLES=glibc.rtld.optional_static_tls="));
}

// The sanitizers end a process that has no mappings left before glibc can say so.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Uses up the process's memory mappings but for a few.
class ManyMappings {
 public:
  explicit ManyMappings(std::size_t left) {
    std::size_t limit = 0;
    std::ifstream("/proc/sys/vm/max_map_count") >> limit;
    const std::size_t page = ::sysconf(_SC_PAGESIZE);
    size_ = 2 * limit * page;
    start_ = static_cast<char*>(
        ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    // Every other page readable: each is a mapping of its own, and parts another.
    const std::size_t count = (limit - countAllMappings() - left) / 2;
    for (std::size_t i = 0; i < count; ++i) {
      ::mprotect(start_ + (2 * i + 1) * page, page, PROT_READ);
    }
  }
  ~ManyMappings() { ::munmap(start_, size_); }
  ManyMappings(const ManyMappings&) = delete;
  ManyMappings& operator=(const ManyMappings&) = delete;

 private:
  char* start_;
  std::size_t size_;
};

TEST_P(UnloadingTest, TooManyMappingsSaysWhatToDo) {
  const auto library = build("site-packages/counter.so", kCounter);
  auto space = newSpace(0);
  std::string error;
  {
    ManyMappings mappings(3);
    error = errorOf([&] { (*space)->load(library); });
  }
  EXPECT_TRUE(contains(error, "counter.so: "));
  EXPECT_TRUE(contains(error, "raise it (sysctl vm.max_map_count), or use fewer interpreters"));
  EXPECT_EQ(call((*space)->load(library), "count"), 1) << "it was no verdict for ever";
}
#endif

TEST_P(UnloadingTest, MisuseIsAnError) {
  auto space = newSpace(4);
  EXPECT_THROW(newSpace(4), runtime::InvalidArgument);
  EXPECT_THROW(newSpace(-1), runtime::InvalidArgument);
  EXPECT_THROW((*space)->loadInterpreter(bench_.standIn()), runtime::InternalError);
  EXPECT_THROW(PrivateSpace(InterpreterId(5), nullptr, cache_, nullptr), runtime::InvalidArgument);
  PrivateSpace empty(InterpreterId(5), policy_, cache_, nullptr);
  EXPECT_THROW(empty.load(build("site-packages/any.so", kCounter)), runtime::LoadError);
  const auto incomplete = readBytes(build("incomplete.so", "int PzThing_Who(void) { return 0; }"));
  EXPECT_THROW(empty.loadInterpreter(incomplete), runtime::InternalError);
}

}  // namespace
}  // namespace multipy::loader::testing
