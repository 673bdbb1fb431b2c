// A real library for another machine: nothing in the reader and the editor
// depends on the one they run on.
#include <elf.h>
#include <gtest/gtest.h>

#include "multipy/runtime/Exception.h"
#include "tools.h"

namespace multipy::elf::testing {
namespace {

TEST(Aarch64, LibrariesHaveCopies) {
  const Workshop shop;
  const Toolchain cross{"clang_lld",
                        std::string(clangxx) + " --target=aarch64-linux-gnu -fuse-ld=lld"};
  const auto path = shop.build(cross, "arm.so", R"(
      extern "C" int elsewhere();
      static int counter;
      static int* pointer = &counter;
      extern "C" int next() { return ++*pointer + elsewhere(); })",
                               "-nostdlib -Wl,-soname,libarm.so -Wl,-z,max-page-size=0x10000");
  EXPECT_THROW(SharedObject::read(path, Machine::x86_64()), runtime::ElfError);

  const auto original = SharedObject::read(path, Machine::aarch64());
  const auto result = edit(original, completed({.soname = "libcopy.so",
                                                .neededFirst = {"libfirst.so"},
                                                .renameUndefined = [](std::string_view name) {
                                                  return "renamed_" + std::string(name);
                                                }}));
  writeFile(shop / "copy.so", result.bytes);
  const auto copy = SharedObject::read(shop / "copy.so", Machine::aarch64());
  EXPECT_EQ(copy.soname(), "libcopy.so");
  EXPECT_EQ(copy.needed()[0], "libfirst.so");
  EXPECT_EQ(result.report.renamed, std::vector<std::string>{"elsewhere"});
  const Segment blob = [&] {
    Segment last;
    for (const Segment& s : copy.segments())
      if (s.type == PT_LOAD) last = s;
    return last;
  }();
  EXPECT_EQ(blob.vaddr % 0x10000, 0u);
  EXPECT_EQ(blob.offset % 0x10000, 0u);

  const auto report = run(std::string(readelf) + " -aW " + (shop / "copy.so").string());
  EXPECT_EQ(report.find("readelf: "), std::string::npos) << report;
  EXPECT_NE(report.find("[libcopy.so]"), std::string::npos) << report;
  EXPECT_NE(report.find("renamed_elsewhere"), std::string::npos) << report;
}

}  // namespace
}  // namespace multipy::elf::testing
