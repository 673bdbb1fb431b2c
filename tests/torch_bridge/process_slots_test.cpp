#include "torch_bridge/state/process_slots.h"

#include <ATen/Functions.h>
#include <ATen/core/ivalue.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/csrc/jit/runtime/print_handler.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "abi/torch_routes.h"
#include "base/interpreter_id.h"
#include "process/ownership.h"
#include "torch_bridge/dispatch/once_per_process.h"
#include "torch_bridge/symbols/features/object_conversion.h"
#include "torch_bridge/symbols/static_phase.h"
#include "torch_bridge/symbols/supported_torch.h"
#include "torch_bridge/symbols/torch_functions.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {
namespace {

class ProcessSlots : public testing::Test {
 protected:
  void SetUp() override {
    for (InterpreterId& slot : slots) slot = process::Ownership::instance().admit();
  }
  void TearDown() override {
    process::Ownership::setCurrent(InterpreterId::none());
    for (const InterpreterId slot : slots) {
      purge(slot);
      process::Ownership::instance().release(slot);
    }
  }
  static void in(InterpreterId slot, const std::function<void()>& action) {
    process::Ownership::setCurrent(slot);
    action();
    process::Ownership::setCurrent(InterpreterId::none());
  }
  InterpreterId slots[2];
};

std::string printed;

TEST_F(ProcessSlots, PrintHandlers) {
  torchRoutes().printHandler(
      slots[0], reinterpret_cast<void*>(+[](const std::string& s) { printed = "A" + s; }));
  torchRoutes().printHandler(
      slots[1], reinterpret_cast<void*>(+[](const std::string& s) { printed = "B" + s; }));
  const auto print = [] { torch::jit::getPrintHandler()("x"); };
  in(slots[0], print);
  EXPECT_EQ(printed, "Ax");
  in(slots[1], print);
  EXPECT_EQ(printed, "Bx");
  purge(slots[1]);
  printed.clear();
  testing::internal::CaptureStdout();
  in(slots[1], print);
  print();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "xx") << "as torch does without Python";
  EXPECT_EQ(printed, "");
}

#if MULTIPY_TORCH_OBJECT_CONVERSION
// What an interpreter's libtorch_python gives, with its interpreter's number in what it answers.
struct Conversion final : torch::detail::PyObjectConversionInterface {
  explicit Conversion(int number) : number(number) {}
  at::Tensor tensor_from_pyobject(PyObject* /*object*/) const override {
    return at::full({}, number);
  }
  PyObject* tensor_to_pyobject(const at::Tensor& /*tensor*/, PyObject* type) const override {
    return type;
  }
#if MULTIPY_TORCH_TYPE_CONVERSION
  bool is_tensor_pyobject(PyObject* /*object*/) const override { return number == 2; }
  at::ScalarType dtype_from_pyobject(PyObject* /*object*/) const override {
    return number == 2 ? at::kDouble : at::kFloat;
  }
  PyObject* dtype_to_pyobject(at::ScalarType /*type*/) const override { return nullptr; }
  at::Device device_from_pyobject(PyObject* /*object*/) const override {
    return {at::kMeta, static_cast<at::DeviceIndex>(number)};
  }
  PyObject* device_to_pyobject(const at::Device& /*device*/) const override { return nullptr; }
#endif
  int number;
};

TEST_F(ProcessSlots, ObjectConversions) {
  Conversion one(1);
  Conversion two(2);
  torchRoutes().objectConversion(slots[0], &one);
  torchRoutes().objectConversion(slots[1], &two);
  const auto& process = torch::detail::getPyObjectConversionImpl();
  in(slots[0], [&] { EXPECT_EQ(process.tensor_from_pyobject(nullptr).item<int>(), 1); });
  in(slots[1], [&] { EXPECT_EQ(process.tensor_from_pyobject(nullptr).item<int>(), 2); });
#if MULTIPY_TORCH_TYPE_CONVERSION
  in(slots[0], [&] {
    EXPECT_FALSE(process.is_tensor_pyobject(nullptr));
    EXPECT_EQ(process.dtype_from_pyobject(nullptr), at::kFloat);
    EXPECT_EQ(process.device_from_pyobject(nullptr).index(), 1);
  });
  in(slots[1], [&] {
    EXPECT_TRUE(process.is_tensor_pyobject(nullptr));
    EXPECT_EQ(process.dtype_from_pyobject(nullptr), at::kDouble);
    EXPECT_EQ(process.device_from_pyobject(nullptr).index(), 2);
  });
#endif
  EXPECT_THROW(process.tensor_from_pyobject(nullptr), c10::Error) << "in no interpreter";
  purge(slots[1]);
  in(slots[1], [&] { EXPECT_THROW(process.tensor_from_pyobject(nullptr), c10::Error); });
}
#endif

TEST_F(ProcessSlots, Engines) {
  // The stub of slot 0 says that it was asked; the engine is the same.
  static int asked = 0;
  torchRoutes().engine(slots[0], reinterpret_cast<void*>(+[]() -> torch::autograd::Engine& {
                         ++asked;
                         return torch::autograd::Engine::get_base_engine();
                       }));
  in(slots[1], [] { torch::autograd::Engine::get_default_engine(); });
  EXPECT_EQ(asked, 0);
  in(slots[0], [] { torch::autograd::Engine::get_default_engine(); });
  EXPECT_EQ(asked, 1);
}

torch::autograd::variable_list compiled(const c10::intrusive_ptr<torch::autograd::Node>&,
                                        const torch::autograd::GraphTask&, bool,
                                        const torch::autograd::edge_list&) {
  return {};
}

TEST_F(ProcessSlots, CompiledAutogradIsSwitchedOnInEachByItself) {
  // (What it does there, in several at once, is compared with plain Python's.)
  void* const function = reinterpret_cast<void*>(compiled);
  const auto& set = torchRoutes().compiledAutograd;
  set(slots[0], function);
  set(slots[1], function);
  set(slots[0], nullptr);
  purge(slots[1]);
  // C++ goes on without: `compiled` would give no gradients.
  const at::Tensor leaf = at::ones({2}).requires_grad_();
  at::mul(leaf, 3).sum().backward();
  EXPECT_TRUE(at::equal(leaf.grad(), at::full({2}, 3.0f)));
}

TEST_F(ProcessSlots, OneInterpreterProfilesAtATime) {
  using namespace torch::autograd::profiler;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const std::set<torch::profiler::impl::ActivityType> activities{
      torch::profiler::impl::ActivityType::CPU};
  const std::unordered_map<torch::profiler::impl::ActivityType, std::unordered_set<std::string>>
      filter;
  const std::unordered_map<std::string, std::string> extensions;
  const std::unordered_set<at::RecordScope> scopes{at::RecordScope::FUNCTION};
  const auto& routes = torchRoutes();
  const auto stop = [&](InterpreterId slot) {
    delete static_cast<ProfilerResult*>(routes.disableProfiler(slot).pointer);
  };
  // As this torch's libtorch_python prepares one.
  const auto prepare = [&](InterpreterId slot) {
    if (findTorchFunction(prepareSymbols().extended))
      routes.prepareExtended(slot, &config, &activities, &filter, &extensions);
    else if (findTorchFunction(prepareSymbols().filtered))
      routes.prepareFiltered(slot, &config, &activities, &filter);
    else
      routes.prepareProfiler(slot, &config, &activities);
  };
  const auto enable = [&](InterpreterId slot) {
    routes.enableProfiler(slot, &config, &activities, &scopes);
  };
  prepare(slots[0]);
  enable(slots[0]);
  using Start = std::function<void(InterpreterId)>;
  for (const Start& start : {Start(enable), Start(prepare)}) {
    try {
      start(slots[1]);
      FAIL();
    } catch (const c10::Error& error) {
      const std::string text = error.what_without_backtrace();
      EXPECT_NE(text.find("interpreter " + std::to_string(slots[0].number()) +
                          " of this process is profiling"),
                std::string::npos)
          << text;
    }
  }
  EXPECT_THROW(enable(slots[0]), c10::Error) << "torch's own: once per thread";
  stop(slots[0]);
  // Its preparation was refused, so there is nothing to begin: kineto would crash.
  try {
    enable(slots[1]);
    FAIL();
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    EXPECT_NE(text.find("was not prepared"), std::string::npos) << text;
  }
  prepare(slots[1]);
  enable(slots[1]);
  stop(slots[1]);
  prepare(slots[0]);
  purge(slots[0]);  // ends without having begun
  prepare(slots[1]);
  enable(slots[1]);
  stop(slots[1]);
}

TEST_F(ProcessSlots, Callstacks) {
  torchRoutes().callstack(
      slots[0], reinterpret_cast<void*>(+[] { return std::vector<torch::jit::StackEntry>(1); }));
  in(slots[0], [] { EXPECT_EQ(torch::jit::tracer::pythonCallstack().size(), 1u); });
  in(slots[1], [] { EXPECT_EQ(torch::jit::tracer::pythonCallstack().size(), 0u); });
}

torch::jit::Operator nodeMade(torch::jit::OperationCreator create) {
  return {c10::Symbol::fromQualString("multipy_test::from_node"), create,
          c10::AliasAnalysisKind::CONSERVATIVE};
}
torch::jit::Operation nothing() {
  return [](torch::jit::Stack&) {};
}
std::string made;

TEST_F(ProcessSlots, OperatorsMadeFromNodesAreEachInterpretersOwn) {
  const auto& routes = torchRoutes();
  auto residents = nodeMade([](const torch::jit::Node*) {
    made = "resident copy";
    return nothing();
  });
  routes.registerOperator(InterpreterId::resident(), &residents);
  StaticPhase::begin();
  auto mine = nodeMade([](const torch::jit::Node*) {
    made = "A";
    return nothing();
  });
  routes.registerOperator(slots[0], &mine);
  StaticPhase::end();

  const auto symbol = c10::Symbol::fromQualString("multipy_test::from_node");
  const auto registered = torch::jit::getAllOperatorsFor(symbol);
  ASSERT_EQ(registered.size(), 1u);
  torch::jit::Graph graph;
  const torch::jit::Node* const node = graph.create(symbol);
  in(slots[0], [&] { registered[0]->getOperation(node); });
  EXPECT_EQ(made, "A");
  in(slots[1], [&] { EXPECT_THROW(registered[0]->getOperation(node), c10::Error); });
  EXPECT_THROW(registered[0]->getOperation(node), c10::Error);
  purge(slots[0]);
  in(slots[0], [&] { EXPECT_THROW(registered[0]->getOperation(node), c10::Error); });
}

TEST_F(ProcessSlots, FurtherCopiesRegisterNoOperatorTwice) {
  const auto& routes = torchRoutes();
  const auto make = [] {
    return torch::jit::Operator(
        "multipy_test::once(int x) -> int", [](torch::jit::Stack&) {},
        c10::AliasAnalysisKind::CONSERVATIVE);
  };
  const auto count = [] {
    return torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString("multipy_test::once")).size();
  };
  auto residents = make(), further = make(), later = make();
  routes.registerOperator(InterpreterId::resident(), &residents);
  EXPECT_EQ(count(), 1u);
  StaticPhase::begin();
  routes.registerOperator(slots[0], &further);
  StaticPhase::end();
  routes.registerOperator(slots[0], &later);
  EXPECT_EQ(count(), 1u);
}

TEST_F(ProcessSlots, CachesAreDroppedByPurge) {
  static int dropped = 0;
  torchRoutes().onPurge(slots[0], [] { ++dropped; });
  purge(slots[1]);
  EXPECT_EQ(dropped, 0);
  purge(slots[0]);
  EXPECT_EQ(dropped, 1);
  purge(slots[0]);
  EXPECT_EQ(dropped, 1);
}

TEST_F(ProcessSlots, LazyFramesAreEachInterpretersOwn) {
  EXPECT_NE(torchRoutes().lazyFrames(slots[0]), torchRoutes().lazyFrames(slots[1]));
  EXPECT_EQ(torchRoutes().lazyFrames(slots[0]), torchRoutes().lazyFrames(slots[0]));
}

TEST_F(ProcessSlots, FailThrowsTorchsError) {
  EXPECT_THROW(torchRoutes().fail("as asked"), c10::Error);
}

}  // namespace
}  // namespace multipy::bridge
