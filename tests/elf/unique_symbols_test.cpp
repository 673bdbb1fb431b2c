// Static members of templates and static locals of inline functions are
// STB_GNU_UNIQUE in what GCC makes: glibc joins them over all libraries of the
// process. In copies they are made weak. clang makes weak symbols of them, which are not joined
// over dlopen.
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

TEST_P(Unique, SymbolsMadeWeakAreSeparateAndLetTheCopyGo) {
  const auto original = build("original.so");
  EditReport report;
  const auto path = shop.copy(original, "weak.so", {}, &report);
  EXPECT_EQ(report.uniqueWeakened, count(original));
  EXPECT_EQ(count(path), 0u);
  const Loaded plain(original);
  EXPECT_EQ(plain.call("next"), 1);
  EXPECT_EQ(Loaded(path).call("next"), 1);
  EXPECT_FALSE(Loaded::isMapped(path));
}

INSTANTIATE_TEST_SUITE_P(With, Unique, ::testing::ValuesIn(toolchains),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace multipy::elf::testing
