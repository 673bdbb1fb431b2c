// The rule of docs/isolation.md, case by case.
#include "loader/isolation_policy.h"

#include <gtest/gtest.h>

#include "loader/c_api_names.h"
#include "loader/workbench.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader::testing {
namespace {

const std::string kPackages = "/opt/venv/lib/python3.11/site-packages";
const std::string kNoUse;

IsolationPolicy newPolicy() {
  return IsolationPolicy({kPackages, "/usr/lib/python3.11/lib-dynload/"});
}

bool isPrivate(const IsolationPolicy& policy, const std::string& library,
               const std::string& apiUse = kNoUse, bool needsPrivate = false) {
  return policy.decide(library, apiUse, needsPrivate).isolation == Isolation::Private;
}

TEST(IsolationPolicyTest, WhatLivesInTheEnvironmentIsPrivate) {
  const auto policy = newPolicy();
  for (const std::string library :
       {"/h5py.libs/libhdf5-5e2a4ca1.so.310.4.0", "/llvmlite/binding/libllvmlite.so",
        "/numpy.libs/libscipy_openblas64_-32a4b2a6.so", "/torchaudio/lib/libtorchaudio.so",
        "/pycurl.libs/libcurl-9a1.so.4", "/ompl/libompl.so.16", "/x/libnvjpeg_like.so"}) {
    EXPECT_TRUE(isPrivate(policy, kPackages + library)) << library;
  }
  EXPECT_TRUE(isPrivate(policy, "/usr/lib/python3.11/lib-dynload/_x.so"));
  EXPECT_FALSE(isPrivate(policy, kPackages + "-other/libx.so")) << "a name that only begins alike";
  EXPECT_FALSE(isPrivate(policy, "/usr/lib/libhdf5.so"));
}

TEST(IsolationPolicyTest, WhatUsesTheCApiIsPrivateAnywhere) {
  const auto policy = newPolicy();
  EXPECT_TRUE(isPrivate(policy, "/usr/local/lib/libboost_python311.so", "uses PyX"));
  EXPECT_TRUE(isPrivate(policy, "/usr/local/lib/libneedsit.so", kNoUse, true));
  EXPECT_TRUE(isPrivate(policy, kPackages + "/torch/lib/libtorch_python.so", "uses PyX"));
  EXPECT_TRUE(isPrivate(policy, kPackages + "/torch/lib/libneedsit.so", kNoUse, true));
}

TEST(IsolationPolicyTest, WhatTheGilGuardsIsPrivate) {
  const auto policy = newPolicy();
  EXPECT_TRUE(isPrivate(policy, kPackages + "/torch/lib/libshm.so"));
  for (const std::string library :
       {"libshm.so.2.6", "libreadline.so.8", "libtinfo.so.6", "libncursesw.so.6", "libedit.so.2"})
    EXPECT_TRUE(isPrivate(policy, "/usr/lib/x86_64-linux-gnu/" + library)) << library;
}

TEST(IsolationPolicyTest, TorchCudaOpenMpAndTheRuntimeAreShared) {
  const auto policy = newPolicy();
  for (const std::string library :
       {"/torch/lib/libtorch.so", "/torch/lib/libtorch_cpu.so", "/torch/lib/libtorch_cuda.so",
        "/torch/lib/libc10.so", "/torch/lib/libc10_cuda.so", "/torch/lib/libtorch_global_deps.so",
        "/torch/lib/libanything.so", "/torch/lib/libgomp.so.1",
        "/scikit_learn.libs/libgomp-e985bcbb.so.1.0.0", "/faiss_cpu.libs/libgomp-24e2ab19.so.1.0.0",
        "/lightgbm/libomp.so", "/mkl/libiomp5.so", "/nvidia/cublas/lib/libcublas.so.12",
        "/nvidia/cudnn/lib/libcudnn.so.9", "/nvidia/nccl/lib/libnccl.so.2",
        "/nvidia/new/lib/libnew.so.1", "/x.libs/libstdc++-1.so.6", "/x/libcudart.so.12"}) {
    EXPECT_FALSE(isPrivate(policy, kPackages + library)) << library;
    EXPECT_FALSE(policy.decide(kPackages + library, kNoUse, false).reason.empty());
  }
}

TEST(IsolationPolicyTest, LargeLibrariesAreDecidedUponWithoutBeingRead) {
  const auto policy = newPolicy();
  for (const std::string library :
       {"/torch/lib/libtorch_cuda.so", "/x/libcudnn_adv.so.9", "/libc10.so"}) {
    ASSERT_TRUE(policy.decideByName(kPackages + library)) << library;
    EXPECT_EQ(policy.decideByName(kPackages + library)->isolation, Isolation::Shared);
  }
  EXPECT_FALSE(policy.decideByName(kPackages + "/torch/lib/libtorch_python.so"));
  EXPECT_FALSE(policy.decideByName("/usr/lib/libssl.so.3"));
}

TEST(IsolationPolicyTest, TheUsersWordComesFirstAndTheLastOneCounts) {
  auto policy = newPolicy();
  policy.override("libgomp*", Isolation::Private);
  policy.override(kPackages + "/big/*", Isolation::Shared);
  EXPECT_TRUE(isPrivate(policy, "/usr/lib/libgomp.so.1"));
  EXPECT_FALSE(policy.decideByName("/usr/lib/libgomp.so.1")) << "a private library must be read";
  EXPECT_FALSE(isPrivate(policy, kPackages + "/big/_core.so", "uses PyX", true));
  EXPECT_TRUE(isPrivate(policy, kPackages + "/small/_core.so", "uses PyX"));
  policy.override("_core.so", Isolation::Private);
  EXPECT_TRUE(isPrivate(policy, kPackages + "/big/_core.so"));
  EXPECT_EQ(policy.decide(kPackages + "/big/_core.so", kNoUse, false).reason,
            "is overridden by the pattern \"_core.so\"");
  EXPECT_THROW(policy.override("", Isolation::Shared), runtime::InvalidArgument);
}

TEST(IsolationPolicyTest, FindsUsersOfTheCApi) {
  Workbench bench;
  const auto whyUses = [&](const std::string& name, const std::string& source,
                           const std::string& flags = "") {
    return IsolationPolicy::whyUsesCApi(elf::SharedObject::read(bench.build(name, source, flags)));
  };
  EXPECT_EQ(whyUses("a.so", "void* PyObject_Call(void); void* f(void) { return PyObject_Call(); }"),
            "uses PyObject_Call of the CPython C API");
  EXPECT_EQ(whyUses("b.so", "extern int _Py_NoneStruct; int* f(void) { return &_Py_NoneStruct; }"),
            "uses _Py_NoneStruct of the CPython C API");
  EXPECT_EQ(
      whyUses(
          "c.so",
          "int PyInit_c(void) { return 0; } int Pyramid(void); int g(void) { return Pyramid(); }"),
      "");
  bench.build("libpython3.11.so", "int x;", "-Wl,-soname,libpython3.11.so.1.0");
  EXPECT_EQ(whyUses("d.so", "int f(void) { return 0; }",
                    "-Wl,--no-as-needed '" + (bench / "libpython3.11.so").string() + "'"),
            "needs libpython3.11.so.1.0");
}

TEST(CApiNamesTest, AreToldFromOthersAndMapped) {
  for (const char* name :
       {"PyObject_Call", "Py_Initialize", "_Py_Dealloc", "_PyLong_New", "PyABIInfo_Check"}) {
    EXPECT_TRUE(isCApiName(name)) << name;
    EXPECT_FALSE(isPrivateCApiName(name)) << name;
    EXPECT_TRUE(isPrivateCApiName(privateCApiName(name))) << name;
  }
  for (const char* name :
       {"", "Py", "_Py", "Pyramid", "py_Thing", "__PyThing", "_ZN2Py3FooE", "P"}) {
    EXPECT_FALSE(isCApiName(name)) << name;
  }
  EXPECT_EQ(privateCApiName("PyObject_Call"), "PzObject_Call");
  EXPECT_EQ(privateCApiName("_Py_Dealloc"), "_Pz_Dealloc");
  EXPECT_TRUE(isLibPython("libpython3.11.so.1.0"));
  EXPECT_FALSE(isLibPython("libpython3.11.a"));
  EXPECT_FALSE(isLibPython("libpythonic.so"));
}

}  // namespace
}  // namespace multipy::loader::testing
