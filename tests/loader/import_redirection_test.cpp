// Calls through global offset tables, led elsewhere: lazily bound and not, in
// read-only tables, by pointer, and in wanted libraries only.
#include "loader/import_redirection.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string>

#include "loader/workbench.h"

namespace multipy::loader::testing {
namespace {

constexpr const char* kProvider = "int redirected_answer(void) { return 1; }";
constexpr const char* kCaller =
    "int redirected_answer(void);\n"
    "int call(void) { return redirected_answer(); }\n"
    "int (*get(void))(void) { return redirected_answer; }\n";

int replacement() { return 2; }
bool wanted(std::string_view path) { return path.find("/wanted-") != path.npos; }

class ImportRedirectionTest : public ::testing::Test {
 protected:
  ImportRedirectionTest() {
    provider_ = ::dlopen(bench_.build("libprovider.so", kProvider).c_str(), RTLD_NOW | RTLD_GLOBAL);
  }
  ~ImportRedirectionTest() override { ::dlclose(provider_); }

  void* load(const std::string& name, const std::string& flags) {
    const auto path = bench_.build(name, kCaller, flags);
    void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << ::dlerror();
    return library;
  }
  static std::size_t redirect() {
    const std::array redirections = {
        ImportRedirection{"redirected_answer", reinterpret_cast<const void*>(replacement)}};
    return redirectImports(redirections, wanted);
  }
  static int viaPointer(void* library) { return call<int (*)()>(library, "get")(); }

  Workbench bench_;
  void* provider_ = nullptr;
};

TEST_F(ImportRedirectionTest, LeadsCallsOfAllKindsOfTables) {
  const struct {
    const char *name, *flags;
  } kinds[] = {{"wanted-lazy.so", "-Wl,-z,lazy"},
               {"wanted-now.so", "-Wl,-z,now -Wl,-z,relro"},
               {"wanted-no-plt.so", "-fno-plt -Wl,-z,now -Wl,-z,relro"}};
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.name);
    void* const called = load(kind.name, kind.flags);
    EXPECT_EQ(call(called, "call"), 1);
    EXPECT_GE(redirect(), 1u);
    EXPECT_EQ(redirect(), 0u) << "all is written already";
    EXPECT_EQ(call(called, "call"), 2);
    EXPECT_EQ(viaPointer(called), 2);
    ::dlclose(called);
  }
}

// As those of a large library are that Valgrind has loaded at a low address.
TEST_F(ImportRedirectionTest, WhereOffsetsAreLargerThanTheBase) {
  const auto wished = reinterpret_cast<void*>(0x600000000000);
  void* const taken = ::mmap(wished, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_EQ(taken, wished) << "or the library would get it, and a base of 0";
  void* const called = load("wanted-high.so", "-Wl,-Ttext-segment=0x600000000000");
  EXPECT_GE(redirect(), 1u);
  EXPECT_EQ(call(called, "call"), 2);
  EXPECT_EQ(viaPointer(called), 2);
  ::dlclose(called);
  ::munmap(taken, 4096);
}

TEST_F(ImportRedirectionTest, BeforeTheFirstCallThatWouldBindIt) {
  void* const library = load("wanted-unbound.so", "-Wl,-z,lazy");
  EXPECT_GE(redirect(), 1u);
  EXPECT_EQ(call(library, "call"), 2);
  ::dlclose(library);
}

TEST_F(ImportRedirectionTest, LeavesOthersAlone) {
  void* const other = load("other.so", "-Wl,-z,lazy");
  EXPECT_EQ(redirect(), 0u);
  EXPECT_EQ(call(other, "call"), 1);
  // Nor is the function itself changed.
  EXPECT_EQ(call(provider_, "redirected_answer"), 1);
  ::dlclose(other);
}

TEST_F(ImportRedirectionTest, ReadOnlyTablesAreReadOnlyAfterwards) {
  void* const library = load("wanted-relro.so", "-Wl,-z,now -Wl,-z,relro");
  EXPECT_GE(redirect(), 1u);
  // An independent witness: no mapping of the library is writable and holds the table.
  const std::string maps = run("cat /proc/" + std::to_string(::getpid()) + "/maps");
  std::size_t readOnly = 0;
  for (std::size_t at = 0; (at = maps.find("wanted-relro.so", at)) != maps.npos; ++at) {
    const std::size_t line = maps.rfind('\n', at) + 1;
    readOnly += maps.substr(line, at - line).find(" r--p ") != std::string::npos;
  }
  EXPECT_GE(readOnly, 2u) << maps;  // the headers, and the pages of RELRO
  ::dlclose(library);
}

}  // namespace
}  // namespace multipy::loader::testing
