// Symbol versions: definitions with several versions, references that ask for
// one, and records of what is wanted of whom, which have to follow DT_NEEDED.
#include <elf.h>
#include <gtest/gtest.h>

#include "tools.h"

namespace multipy::elf::testing {
namespace {

class SymbolVersions : public ::testing::TestWithParam<Toolchain> {
 protected:
  SymbolVersions() {
    shop.write("base.map", "V1 { global: api; old; local: *; }; V2 { global: api; } V1;");
    base = shop.build(GetParam(), "libbase.so", R"(
        asm(".symver api1,api@V1"); asm(".symver api2,api@@V2");
        extern "C" __attribute__((used)) int api1() { return 1; }
        extern "C" __attribute__((used)) int api2() { return 2; }
        extern "C" int old() { return 100; })",
                      "-Wl,--version-script=base.map -Wl,-soname,libbase.so");
    user = shop.build(GetParam(), "user.so", R"(
        extern "C" int api(); extern "C" int apiOne(); extern "C" int old();
        asm(".symver apiOne,api@V1");
        extern "C" int use() { return apiOne() * 10 + api() + old(); })",
                      "-L. -lbase -Wl,-rpath,'$ORIGIN'");
  }

  static const VersionNeed* needOf(const SharedObject& object, std::string_view file) {
    for (const VersionNeed& need : object.versionNeeds())
      if (need.file == file) return &need;
    return nullptr;
  }

  void expectToolsToAgree(const std::filesystem::path& copy) {
    const auto report = run(std::string(readelf) + " -aW " + copy.string());
    EXPECT_EQ(report.find("readelf: "), std::string::npos) << report;
  }

  Workshop shop;
  std::filesystem::path base, user;
};

TEST_P(SymbolVersions, AreResolvedWithinTheCopies) {
  EXPECT_EQ(Loaded(user).call("use"), 112);
  ASSERT_NE(needOf(SharedObject::read(user), "libbase.so"), nullptr);
  const auto copiedBase = shop.copy(base, "copied/base.so");
  const auto copy = shop.copy(user, "copied/user.so", {.needed = {{"libbase.so", copiedBase}}});
  const auto object = SharedObject::read(copy);
  EXPECT_EQ(needOf(object, "libbase.so"), nullptr);
  ASSERT_NE(needOf(object, copiedBase.string()), nullptr);
  EXPECT_EQ(needOf(object, copiedBase.string())->versionIndices.size(), 2u);
  expectToolsToAgree(copy);
  const Loaded library(copy);
  EXPECT_EQ(library.call("use"), 112);
  EXPECT_FALSE(Loaded::isMapped(base));
}

TEST_P(SymbolVersions, GoWithTheLibraryThatIsDropped) {
  // An unversioned library that takes the place of the dropped one.
  const auto substitute = shop.build(GetParam(), "libsubstitute.so", R"(
      extern "C" int api() { return 3; } extern "C" int old() { return 500; })",
                                     "-Wl,-soname,libsubstitute-of-versions.so");
  const auto before = SharedObject::read(user);
  const auto copy =
      shop.copy(user, "dropped.so", {.neededFirst = {substitute}, .neededDropped = {"libbase.so"}});
  const auto after = SharedObject::read(copy);
  EXPECT_EQ(needOf(after, "libbase.so"), nullptr);
  EXPECT_EQ(after.versionNeeds().size(), before.versionNeeds().size() - 1);
  for (const auto name : after.needed()) EXPECT_NE(name, "libbase.so");
  expectToolsToAgree(copy);
  EXPECT_EQ(Loaded(copy).call("use"), 533);
}

TEST_P(SymbolVersions, CanAllBeDropped) {
  const auto original = SharedObject::read(user);
  Edits edits{.neededFirst = {base}};
  for (const VersionNeed& need : original.versionNeeds()) edits.neededDropped.emplace(need.file);
  const auto copy = shop.copy(user, "bare.so", edits);
  const auto object = SharedObject::read(copy);
  EXPECT_TRUE(object.versionNeeds().empty());
  EXPECT_FALSE(object.has(DT_VERNEED));
  EXPECT_FALSE(object.has(DT_VERNEEDNUM));
  EXPECT_EQ(object.has(DT_VERSYM), object.has(DT_VERDEF));
  expectToolsToAgree(copy);
  // ld.so gives an unversioned reference the oldest version there is.
  EXPECT_EQ(Loaded(copy).call("use"), 111);
}

// The first, a middle and the last record of the chain go away.
TEST_P(SymbolVersions, LeaveTheOthersOfTheirChain) {
  const auto many = shop.build(GetParam(), "many.so", R"(
      #include <cmath>
      #include <stdexcept>
      extern "C" int old();
      extern "C" int use(double x) {
        try { if (x > 1) throw std::runtime_error("x"); } catch (const std::exception&) { return 7; }
        return old() + int(std::cos(x)); })",
                               "-fno-builtin -L. -lbase -lm -Wl,-rpath,'$ORIGIN'");
  const auto original = SharedObject::read(many);
  ASSERT_GE(original.versionNeeds().size(), 3u);
  for (const VersionNeed& gone : original.versionNeeds()) {
    SCOPED_TRACE(gone.file);
    const auto copy = shop.copy(many, "fewer.so", {.neededDropped = {std::string(gone.file)}});
    const auto object = SharedObject::read(copy);
    std::vector<std::string_view> expected, found;
    for (const VersionNeed& need : original.versionNeeds())
      if (need.file != gone.file) expected.push_back(need.file);
    for (const VersionNeed& need : object.versionNeeds()) found.push_back(need.file);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(object.dynamicValue(DT_VERNEEDNUM), expected.size());
    expectToolsToAgree(copy);
  }
}

TEST_P(SymbolVersions, AreNotWantedOfRenamedReferences) {
  const auto provider =
      shop.build(GetParam(), "libprovider.so", "extern \"C\" int mine() { return 9; }",
                 "-Wl,-soname,libprovider-of-versions.so");
  const auto copy = shop.copy(user, "renamed.so",
                              {.neededFirst = {provider},
                               .origin = shop.folder(),
                               .renameUndefined = [](std::string_view name) {
                                 return name == "api" ? std::string("mine") : std::string();
                               }});
  EXPECT_EQ(Loaded(copy).call("use"), 199);
}

INSTANTIATE_TEST_SUITE_P(With, SymbolVersions, ::testing::ValuesIn(toolchains),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace multipy::elf::testing
