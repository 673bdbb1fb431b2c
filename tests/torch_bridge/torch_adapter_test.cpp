#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/interpreter_id.h"
#include "fake_library.h"
#include "multipy/runtime/Exception.h"
#include "process/ownership.h"
#include "torch_bridge/python_binding.h"
#include "torch_bridge/symbols/static_phase.h"
#include "torch_bridge/symbols/supported_torch.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRegisterOperator = "_ZN5torch3jit16registerOperatorEONS0_8OperatorE";

class TorchAdapter : public testing::Test {
 protected:
  elf::SharedObject write(const char* name, const FakeLibrary& library) {
    library.write(torch.root() / name);
    return elf::SharedObject::read(torch.root() / name);
  }
  void TearDown() override { setResidentCopyLoader(nullptr); }
  FakeTorch torch;
  loader::LibraryAdapter& adapter = torchAdapter();
};

TEST_F(TorchAdapter, RenamesOfTheRealLibtorchPython) {
  const auto renames = adapter.renames(
      elf::SharedObject::read(fs::path(MULTIPY_TEST_TORCH) / "lib/libtorch_python.so"));
  std::set<std::string_view> found, required;
  for (const auto& symbol : redirectedSymbols()) {
    if (!symbol.optional) required.insert(symbol.route);
    const auto& names = symbol.defined ? renames.defined : renames.undefined;
    const auto rename = names.find(std::string(symbol.name));
    if (rename == names.end()) continue;
    EXPECT_EQ(rename->second, symbol.route);
    found.insert(symbol.route);
  }
  EXPECT_TRUE(std::ranges::includes(found, required));
  EXPECT_EQ(renames.undefined.size() + renames.defined.size(), found.size());
  EXPECT_EQ(renames.version, tableVersion());
}

TEST_F(TorchAdapter, AnUnknownLibtorchPythonIsRefused) {
  const auto library = write("libtorch_python.so", FakeLibrary::libtorchPython());
  EXPECT_THROW(adapter.renames(library), runtime::UnsupportedTorchError) << "another libtorch_cpu";
}

TEST_F(TorchAdapter, ExtensionsAreRedirectedWhereTheyCall) {
  const auto renames =
      adapter.renames(write("extension.so", {{kRegisterOperator, "getenv"}, {}, "", "01"}));
  EXPECT_EQ(renames.undefined.size(), 1u);
  EXPECT_EQ(renames.undefined.at(kRegisterOperator), "multipy_route_registerOperator");
  EXPECT_TRUE(renames.defined.empty());
}

TEST_F(TorchAdapter, ADefinitionInAnExtensionIsItsOwn) {
  const auto renames = adapter.renames(write("definer.so", {{}, {kRegisterOperator}, "", "02"}));
  EXPECT_TRUE(renames.undefined.empty() && renames.defined.empty());
}

TEST_F(TorchAdapter, OthersAreLeftAsTheyAre) {
  const auto renames = adapter.renames(write("other.so", {{"getenv", "malloc"}, {}, "", "03"}));
  EXPECT_TRUE(renames.undefined.empty() && renames.defined.empty());
  EXPECT_EQ(renames.version, "");
}

TEST_F(TorchAdapter, InductorsKernelsReadTheInterpretersEnvironment) {
  const auto renames = adapter.renames(
      write("kernel.so", {{"getenv"}, {}, "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR", "04"}));
  EXPECT_EQ(renames.undefined.at("getenv"), "multipy_getenv");
  EXPECT_NE(renames.version, "");
}

TEST_F(TorchAdapter, TheResidentCopyComesFirstAndOnce) {
  const fs::path file = torch.root() / "registering.so";
  adapter.renames(write("registering.so", {{kRegisterOperator}, {}, "", "0501"}));
  std::vector<fs::path> copies;
  setResidentCopyLoader([&](const fs::path& library) {
    copies.push_back(library);
    adapter.beforeLoad(InterpreterId::resident(), library);
    EXPECT_FALSE(StaticPhase::active()) << "the resident copy registers";
    adapter.afterLoad(InterpreterId::resident(), library, &copies);
  });
  for (const InterpreterId slot : {InterpreterId(0), InterpreterId(1)}) {
    adapter.beforeLoad(slot, file);
    EXPECT_TRUE(StaticPhase::active()) << "interpreters do not";
    adapter.afterLoad(slot, file, &copies);
    EXPECT_FALSE(StaticPhase::active());
  }
  EXPECT_EQ(copies, std::vector<fs::path>{file});

  // The same build in another environment.
  fs::create_directory(torch.root() / "elsewhere");
  const fs::path other = torch.root() / "elsewhere/registering.so";
  fs::copy_file(file, other);
  adapter.renames(elf::SharedObject::read(other));
  adapter.beforeLoad(InterpreterId(2), other);
  EXPECT_TRUE(StaticPhase::active());
  adapter.afterLoad(InterpreterId(2), other, nullptr);  // dlopen failed
  EXPECT_FALSE(StaticPhase::active());
  EXPECT_EQ(copies.size(), 1u);
}

TEST_F(TorchAdapter, WithoutAResidentCopyNothingIsLoaded) {
  adapter.renames(write("without_resident.so", {{kRegisterOperator}, {}, "", "0601"}));
  EXPECT_THROW(adapter.beforeLoad(InterpreterId(0), torch.root() / "without_resident.so"),
               runtime::InternalError);
  EXPECT_FALSE(StaticPhase::active());
  setResidentCopyLoader([](const fs::path&) {});
  EXPECT_THROW(adapter.beforeLoad(InterpreterId(0), torch.root() / "without_resident.so"),
               runtime::InternalError);
  setResidentCopyLoader([](const fs::path&) { throw runtime::LoadError("no space"); });
  EXPECT_THROW(adapter.beforeLoad(InterpreterId(0), torch.root() / "without_resident.so"),
               runtime::LoadError);
  EXPECT_FALSE(StaticPhase::active());
}

TEST_F(TorchAdapter, MappingsBelongToTheirInterpreter) {
  static char library[128];
  const InterpreterId slot = process::Ownership::instance().admit();
  process::Ownership::instance().setLive(slot, [] { return false; });
  adapter.mapped(slot, library, library + 64);
  adapter.mapped(InterpreterId::resident(), library + 64, library + 128);
  EXPECT_EQ(process::Ownership::instance().ownerOf(library + 10), slot);
  adapter.unmapped(slot);
  EXPECT_EQ(process::Ownership::instance().ownerOf(library + 10), InterpreterId::none());
  EXPECT_EQ(torchPython(slot), nullptr);
  EXPECT_EQ(torchPython(InterpreterId::none()), nullptr);
  process::Ownership::instance().release(slot);
}

}  // namespace
}  // namespace multipy::bridge
