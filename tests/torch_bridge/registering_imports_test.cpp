// The half of the check of an unlisted torch that looks for functions that have not been
// looked at, and the exports of the shared libraries.
#include "torch_bridge/symbols/registering_imports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "fake_library.h"
#include "multipy/runtime/Exception.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

const fs::path kRealTorch = fs::path(MULTIPY_TEST_TORCH) / "lib";

class RegisteringImports : public testing::Test {
 protected:
  Names imports(const Names& undefined) {
    library.undefined.insert(library.undefined.end(), undefined.begin(), undefined.end());
    library.write(torch.libtorchPython());
    return registeringImports(elf::SharedObject::read(torch.libtorchPython()));
  }

  FakeTorch torch;
  FakeLibrary library = FakeLibrary::libtorchPython();
};

TEST(SoundsLikeRegistering, GoesByTheWordsOfTheLastPart) {
  for (const char* name :
       {"c10::impl::registerDeviceGuard", "c10::RegisterBackend",
        "torch::jit::unregisterOpaqueType", "c10d::set_group", "c10::SetStackTraceFetcher",
        "at::Context::setQEngine", "at::set", "torch::x::unset_mode", "at::addGlobalCallback",
        "torch::addPythonUnwinder", "at::enableRecordFunction", "torch::jit::overrideCanFuseOnCPU",
        "torch_library_set_kernel"})
    EXPECT_TRUE(soundsLikeRegistering(name)) << name;
  for (const char* name : {"at::settle", "c10::setup", "at::reset", "torch::jit::Graph::insertNode",
                           "torch::set::size", "at::add", "c10::isEnabled", "at::addmm"})
    EXPECT_FALSE(soundsLikeRegistering(name)) << name;
}

TEST_F(RegisteringImports, AreNamedWithoutParametersAndTemplates) {
  EXPECT_EQ(imports({"_ZN3c1015SetSomethingNewEv",                      // c10::SetSomethingNew()
                     "_ZN2at8internal7set_allIiEEvSt8functionIFvT_EE",  // a template
                     "_ZN2at12_GLOBAL__N_111registerOneEv",             // unnamed namespace
                     "aoti_torch_set_default"}),
            (Names{"aoti_torch_set_default", "at::::registerOne", "at::internal::set_all",
                   "c10::SetSomethingNew"}));
}

TEST_F(RegisteringImports, OfOthersAndOfOtherKindsAreNot) {
  EXPECT_EQ(imports({"PyModule_SetDocString", "_ZN4onnx11registerOneEv", "_ZTVN3c108RegisterE",
                     "_ZN3c104sizeEv", "register_it"}),
            Names{})
      << "and the redirected ones are known";
}

TEST_F(RegisteringImports, UnknownOnesAreDifferences) {
  library.undefined.emplace_back("_ZN3c1015SetSomethingNewEv");
  library.undefined.emplace_back("_ZN3c1015SetSomethingOldEv");
  library.write(torch.libtorchPython());
  const auto found = registrationDifferences(elf::SharedObject::read(torch.libtorchPython()),
                                             {"c10::SetSomethingOld"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("calls c10::SetSomethingNew"), std::string::npos) << found[0];
}

TEST_F(RegisteringImports, ListsMayHaveComments) {
  const fs::path file = torch.root() / "list";
  std::ofstream(file) << "# why\nat::one  # and so\n\n  \nat::two\r\n";
  EXPECT_EQ(knownRegistrations(file), (std::set<std::string>{"at::one", "at::two"}));
  EXPECT_THROW(knownRegistrations(torch.root() / "none"), runtime::Error);
}

TEST_F(RegisteringImports, OfTheRealTorchAreAllKnown) {
  const auto real = elf::SharedObject::read(kRealTorch / "libtorch_python.so");
  EXPECT_GT(registeringImports(real).size(), 100u);
  for (const std::string& difference :
       registrationDifferences(real, knownRegistrations(MULTIPY_TEST_REGISTRATIONS)))
    ADD_FAILURE() << difference;
}

TEST_F(RegisteringImports, ExportsOfTheRealTorchSuffice) {
  std::vector<elf::SharedObject> shared;
  shared.push_back(elf::SharedObject::read(kRealTorch / "libtorch_cpu.so"));
  const auto withoutC10 = exportDifferences(shared);
  EXPECT_TRUE(std::ranges::any_of(withoutC10, [](const std::string& line) {
    return line.find("_ZN3c1017set_default_dtypeEN6caffe28TypeMetaE") != std::string::npos;
  })) << "it is libc10's";
  shared.push_back(elf::SharedObject::read(kRealTorch / "libc10.so"));
  EXPECT_EQ(exportDifferences(shared), Names{});
}

}  // namespace
}  // namespace multipy::bridge
