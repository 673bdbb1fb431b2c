#include "torch_bridge/symbols/supported_torch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "fake_library.h"
#include "multipy/runtime/Exception.h"

namespace multipy::bridge {
namespace {

namespace fs = std::filesystem;

// A torch that would be accepted; tests make one thing wrong with it.
class SupportedTorch : public testing::Test {
 protected:
  void SetUp() override { FakeLibrary{{}, {}, "", "aa11"}.write(torch.libtorchCpu()); }

  std::vector<std::string> differences() {
    library.write(torch.libtorchPython());
    TorchFiles files{torch.root() / "version.py", torch.libtorchCpu(), loaded};
    try {
      verifyTorch(elf::SharedObject::read(torch.libtorchPython()), files);
    } catch (const runtime::UnsupportedTorchError& error) {
      text = error.what();
      for (const std::string& difference : error.differences())
        EXPECT_NE(text.find(difference), std::string::npos) << text;
      EXPECT_NE(text.find(torch.libtorchPython().string()), std::string::npos) << text;
      EXPECT_NE(text.find(builtWithTorch()), std::string::npos) << text;
      return error.differences();
    }
    return {};
  }
  void expectOne(const std::string& words) {
    const auto found = differences();
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_NE(found[0].find(words), std::string::npos) << found[0];
  }

  // The first function that has two.
  static std::pair<std::string, std::string> namesOfOne() {
    const auto symbols = redirectedSymbols();
    const auto first = std::ranges::adjacent_find(symbols, {}, &RedirectedSymbol::route);
    return {std::string(first[0].name), std::string(first[1].name)};
  }

  FakeTorch torch;
  FakeLibrary library = FakeLibrary::libtorchPython();
  fs::path loaded = torch.libtorchCpu();
  std::string text;
};

TEST_F(SupportedTorch, TheRealOneIsAccepted) {
  const fs::path real = fs::path(MULTIPY_TEST_TORCH) / "lib/libtorch_python.so";
  const TorchFiles files = torchFiles(real);
  EXPECT_EQ(files.loadedCpuLibrary.filename().string().rfind("libtorch_cpu.so", 0), 0u)
      << "this test is linked to it";
  EXPECT_NO_THROW(verifyTorch(elf::SharedObject::read(real), files));
}

TEST_F(SupportedTorch, AMinimalLikenessIsAccepted) { EXPECT_EQ(differences().size(), 0u) << text; }

TEST_F(SupportedTorch, EachMissingSymbolIsNamed) {
  const std::string missing(redirectedSymbols()[0].name);
  library.remove(missing);
  expectOne(missing + ": expected once, found 0 times");
}

TEST_F(SupportedTorch, AFunctionHasOneOfItsNames) {
  const auto [first, second] = namesOfOne();
  library.undefined.push_back(second);
  expectOne(first + " or " + second + ": expected once, found 2 times");
  library.remove(first);
  EXPECT_EQ(differences().size(), 0u) << text;
  library.remove(second);
  expectOne(first + " or " + second + ": expected once, found 0 times");
}

TEST_F(SupportedTorch, EverySymbolOfTheTableIsChecked) {
  library.undefined.clear();
  library.defined.clear();
  std::set<std::string_view> required;
  for (const auto& symbol : redirectedSymbols())
    if (!symbol.optional) required.insert(symbol.route);
  EXPECT_EQ(differences().size(), required.size() + 5) << text;
}

TEST_F(SupportedTorch, OptionalSymbolsMayBeMissing) {
  for (const auto& symbol : redirectedSymbols())
    if (symbol.optional) library.remove(std::string(symbol.name));
  EXPECT_EQ(differences().size(), 0u) << text;
}

TEST_F(SupportedTorch, AMissingBindingIsNamed) {
  library.remove(bindingSymbols().wrap[0]);
  expectOne(bindingSymbols().wrap[0]);
}

TEST_F(SupportedTorch, AnUnknownOverloadIsADifference) {
  library.undefined.push_back("_ZNR5torch7Library5_implEPKciONS_11CppFunctionE");
  expectOne("a function or overload that is not routed");
}

TEST_F(SupportedTorch, OneThatIsImportedInsteadOfDefined) {
  const std::string name = "_ZN5torch6detail19getTorchApiFunctionERKN3c1014OperatorHandleE";
  library.remove(name);
  library.undefined.push_back(name);
  expectOne("defined symbol " + name);
}

TEST_F(SupportedTorch, OtherVersions) {
  const std::string ours = builtWithTorch();
  for (const std::string& version : {std::string("2.3.1+cpu"), ours + ".1", ours + "a0+git1234",
                                     std::string("2.99.0.dev20260101"), ours + "1"}) {
    torch.writeVersion("__version__ = '" + version + "'\n");
    expectOne("says " + version);
  }
}

TEST_F(SupportedTorch, SameVersionOfAnotherFlavour) {
  torch.writeVersion("from typing import Optional\n__version__ = \"" + builtWithTorch() +
                     "+cu130\"\n");
  EXPECT_EQ(differences().size(), 0u) << text;
}

TEST_F(SupportedTorch, AVersionFileMayBeOfAnyKind) {
  const std::string before =
      "__all__ = ['__version__']\n__version__\n__version__: str\n__version__ =\n";
  torch.writeVersion(before + "__version__\t=  \"" + builtWithTorch() + "\"\n");
  EXPECT_EQ(differences().size(), 0u) << text;
  // Not even one without an end.
  torch.writeVersion("__version__ = '" + std::string(1'000'000, '0'));
  expectOne("no __version__");
  torch.writeVersion("__version__ =" + std::string(1'000'000, ' '));
  expectOne("no __version__");
  torch.writeVersion("__version__ = '" + std::string(1'000'000, '0') + "'");
  expectOne("says 000");
}

TEST_F(SupportedTorch, NoVersion) {
  torch.writeVersion("debug = False\n");
  expectOne("no __version__");
  fs::remove(torch.root() / "version.py");
  expectOne("no __version__");
}

TEST_F(SupportedTorch, AnotherBuildIsInTheProcess) {
  loaded = torch.root() / "other_libtorch_cpu.so";
  FakeLibrary{{}, {}, "", "bb22"}.write(loaded);
  expectOne("one torch");
  EXPECT_NE(text.find("build id bb22"), std::string::npos) << text;
  EXPECT_NE(text.find("build id aa11"), std::string::npos) << text;
  EXPECT_NE(text.find(loaded.string()), std::string::npos) << text;
  EXPECT_NE(text.find("point the environment"), std::string::npos) << text;
}

TEST_F(SupportedTorch, ACopyOfTheSameBuildIsInTheProcess) {
  loaded = torch.root() / "copy.so";
  fs::copy_file(torch.libtorchCpu(), loaded);
  EXPECT_EQ(differences().size(), 0u) << text;
}

TEST_F(SupportedTorch, FilesWithoutBuildIdAreNotTakenForEqual) {
  FakeLibrary{{}, {}, "", ""}.write(torch.libtorchCpu());
  loaded = torch.root() / "copy.so";
  fs::copy_file(torch.libtorchCpu(), loaded);
  expectOne("build id none");
  loaded = torch.libtorchCpu();
  EXPECT_EQ(differences().size(), 0u) << "the same file is";
}

TEST_F(SupportedTorch, NoTorchInTheProcessOrTheEnvironment) {
  loaded.clear();
  expectOne("not loaded in this process");
  loaded = torch.root() / "other.so";
  FakeLibrary{{}, {}, "", "bb22"}.write(loaded);
  fs::remove(torch.libtorchCpu());
  expectOne("does not exist");
}

TEST_F(SupportedTorch, AllDifferencesAreToldAtOnce) {
  torch.writeVersion("__version__ = '1.0'\n");
  library.remove(std::string(redirectedSymbols()[0].name));
  loaded.clear();
  EXPECT_EQ(differences().size(), 3u) << text;
}

TEST(BuildId, OfDamagedFiles) {
  const FakeTorch torch;
  const auto file = torch.root() / "file";
  EXPECT_EQ(buildIdOf(file), "");
  std::ofstream(file) << "text";
  EXPECT_EQ(buildIdOf(file), "");
  FakeLibrary{{}, {}, "", "c0ffee"}.write(file);
  EXPECT_EQ(buildIdOf(file), "c0ffee");
  for (const std::uintmax_t size : {100u, 300u, 600u}) {
    fs::resize_file(file, size);
    buildIdOf(file);  // nothing is read that is not there
  }
  EXPECT_EQ(buildIdOf(fs::path(MULTIPY_TEST_TORCH) / "lib/libtorch_cpu.so").size(), 40u);
}

TEST(Table, NamesAreUniqueAndThoseOfARouteAgree) {
  std::set<std::string_view> names;
  std::map<std::string_view, RedirectedSymbol> routes;
  for (const auto& symbol : redirectedSymbols()) {
    EXPECT_TRUE(names.insert(symbol.name).second) << symbol.name;
    const auto& first = routes.emplace(symbol.route, symbol).first->second;
    EXPECT_EQ(first.stem, symbol.stem);
    EXPECT_EQ(first.optional, symbol.optional) << symbol.route;
    EXPECT_EQ(first.defined, symbol.defined);
    EXPECT_TRUE(symbol.name.starts_with(symbol.stem));
    EXPECT_TRUE(symbol.route.starts_with("multipy_route_"));
  }
}

}  // namespace
}  // namespace multipy::bridge
