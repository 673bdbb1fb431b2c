// What compilers of compiled autograd are told of functions that nodes introduce
// once per process.
#include "torch_bridge/autograd/compiler_interface.h"

#include <gtest/gtest.h>
#include <torch/csrc/dynamo/compiled_autograd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "abi/torch_routes.h"
#include "base/interpreter_id.h"
#include "process/ownership.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {
namespace {

using torch::autograd::functional_apply_t;
using torch::autograd::ivalue_list;
using torch::autograd::variable_list;
using Interface = torch::dynamo::autograd::PyCompilerInterface;
using Names = std::vector<std::string>;

// What one compiler was told and asked, in order.
struct Told {
  Names bound, called;
};

// In the place of libtorch_python's. (Torches declare these functions in different ways.)
struct Recording final : Interface {
  explicit Recording(Told& told) : told(told) {}

  std::string bind_function(PyObject*, const std::string& name, functional_apply_t,
                            std::vector<at::TypePtr>, bool isCustom, bool) const {
    told.bound.push_back(name);
    return isCustom ? "custom" + std::to_string(told.bound.size()) : name;
  }
  variable_list call_function(PyObject*, const char*, const std::string& name, const variable_list&,
                              const ivalue_list&, const c10::IValue&) const {
    told.called.push_back(name);
    return {};
  }
  variable_list call_copy_slices_prologue(PyObject*, const variable_list&,
                                          const at::TensorGeometry&,
                                          const at::TensorGeometry&) const {
    return {};
  }
  variable_list call_copy_slices_epilogue(PyObject*, const std::vector<bool>&, const at::Tensor&,
                                          const variable_list&, const at::Tensor&) const {
    return {};
  }
  at::Tensor call_unpack(PyObject*, std::optional<std::size_t>, std::size_t) const { return {}; }
  at::Tensor call_accumulate_grad(PyObject*, const at::Tensor&, const at::Tensor&,
                                  const at::Tensor&, bool) const {
    told.called.push_back("accumulate");
    return {};
  }
  void call_accumulate_grad(PyObject*, const at::Tensor&, const at::Tensor&, bool) const {
    told.called.push_back("accumulate");
  }
  // torch 2.7
  std::string bind_function(PyObject* compiler, const std::string& name,
                            functional_apply_t function, std::vector<at::TypePtr> arguments,
                            bool isCustom, bool isTraceable) {
    return std::as_const(*this).bind_function(compiler, name, std::move(function),
                                              std::move(arguments), isCustom, isTraceable);
  }
  variable_list call_function(PyObject* compiler, const char* method, const std::string& name,
                              const variable_list& inputs, const ivalue_list& arguments,
                              const c10::IValue& outputs) {
    return std::as_const(*this).call_function(compiler, method, name, inputs, arguments, outputs);
  }

  Told& told;
};

class CompilerInterface : public testing::Test {
 protected:
  void SetUp() override {
    redirectTorch(compilerInterfaceRedirections());
    for (InterpreterId& slot : slots) slot = process::Ownership::instance().admit();
  }
  void TearDown() override {
    process::Ownership::setCurrent(InterpreterId::none());
    for (const InterpreterId slot : slots) {
      purge(slot);
      process::Ownership::instance().release(slot);
    }
  }

  /// Interpreter `k` compiles from here to the end of the test.
  void compiles(int k) {
    std::unique_ptr<Interface> interface = std::make_unique<Recording>(told[k]);
    torchRoutes().beginCompiling(slots[k], nullptr, &interface);
  }
  void endsCompiling(int k) { torchRoutes().endCompiling(slots[k], nullptr); }

  /// As code in torch's shared libraries does it in interpreter `k`.
  std::string bind(int k, const std::string& name, bool isCustom = false) {
    process::Ownership::setCurrent(slots[k]);
    auto bound = torch::dynamo::autograd::getPyCompilerInterface()->bind_function(
        nullptr, name,
        [](const variable_list&, const std::vector<c10::IValue>&) { return variable_list(); }, {},
        isCustom);
    process::Ownership::setCurrent(InterpreterId::none());
    return bound;
  }
  void call(int k, const std::string& name) {
    process::Ownership::setCurrent(slots[k]);
    torch::dynamo::autograd::getPyCompilerInterface()->call_function(nullptr, "apply_functional",
                                                                     name, {}, {}, {});
    process::Ownership::setCurrent(InterpreterId::none());
  }

  InterpreterId slots[2];
  Told told[2];
};

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST_F(CompilerInterface, ASecondInterpreterIsToldOfWhatWasIntroducedInTheFirst) {
  compiles(0);
  EXPECT_EQ(bind(0, "First"), "First");
  call(0, "First");
  EXPECT_TRUE(has(told[0].bound, "First"));

  compiles(1);
  call(1, "First");  // the node has noted that it was introduced
  EXPECT_TRUE(has(told[1].bound, "First"));
  EXPECT_EQ(told[1].called, Names{"First"});

  // Once, and for later compilations too.
  endsCompiling(1);
  const std::size_t before = told[1].bound.size();
  compiles(1);
  call(1, "First");
  EXPECT_EQ(told[1].bound.size(), before);
}

/// Up to torch 2.12 without the gradient that there is already. False where torch never asks
/// for one (2.7).
template <class Interface>
bool accumulate(const Interface& compiler) {
  const at::Tensor none;
  if constexpr (requires { compiler.call_accumulate_grad(nullptr, none, none, none, false); })
    compiler.call_accumulate_grad(nullptr, none, none, none, false);
  else if constexpr (requires { compiler.call_accumulate_grad(nullptr, none, none, false); })
    compiler.call_accumulate_grad(nullptr, none, none, false);
  else
    return false;
  return true;
}

TEST_F(CompilerInterface, IsToldBeforeItIsAskedForAGradientToAccumulate) {
  compiles(0);
  bind(0, "Accumulating");
  compiles(1);
  process::Ownership::setCurrent(slots[1]);
  const bool asks = accumulate(*torch::dynamo::autograd::getPyCompilerInterface());
  EXPECT_EQ(has(told[1].bound, "Accumulating"), asks) << "Python finds it by itself";
}

TEST_F(CompilerInterface, WaitsForAFunctionThatIsJustBeingIntroduced) {
  compiles(0);
  compiles(1);
  // The note has been made; its function comes while the other one is asking for it.
  std::jthread other([&] { call(1, "Late"); });
  bind(0, "Late");
  other.join();
  EXPECT_TRUE(has(told[1].bound, "Late"));
  EXPECT_EQ(told[1].called, Names{"Late"});
}

TEST_F(CompilerInterface, CustomFunctionsStayWhereTheyAre) {
  compiles(0);
  compiles(1);
  const std::string name = bind(0, "Custom", true);
  EXPECT_NE(name, "Custom");
  call(0, name);
  EXPECT_EQ(told[0].called, Names{name});
  bind(1, "Other");
  call(1, "Other");
  EXPECT_FALSE(has(told[1].bound, "Custom"));
}

TEST_F(CompilerInterface, PrivateLibrariesSpeakToTheirOwnCompiler) {
  compiles(0);
  compiles(1);
  const auto& own =
      *static_cast<const std::unique_ptr<Interface>*>(torchRoutes().compilerInterface(slots[0]));
  own->bind_function(nullptr, "private", {}, {});
  EXPECT_EQ(told[0].bound, Names{"private"}) << "and of nothing else";
  bind(1, "Shared");
  call(1, "Shared");
  EXPECT_FALSE(has(told[1].bound, "private"));
}

TEST_F(CompilerInterface, OneCompilationAtATime) {
  compiles(0);
  EXPECT_THROW(compiles(0), c10::Error);
  compiles(1);
  endsCompiling(0);
  process::Ownership::setCurrent(slots[0]);
  EXPECT_THROW(torch::dynamo::autograd::getPyCompilerInterface(), c10::Error) << "none is at work";
}

}  // namespace
}  // namespace multipy::bridge
