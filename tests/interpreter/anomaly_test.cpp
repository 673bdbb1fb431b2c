// Anomaly mode belongs to each interpreter: switched on in one, it shows in that one
// as in plain Python, and in no other and not in C++.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter_manager.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <barrier>
#include <string>
#include <thread>
#include <vector>

namespace multipy::runtime {
namespace {

using torch::autograd::AnomalyMode;

constexpr int kInterpreters = 4;

constexpr const char* kModule = R"py(
import warnings
import torch
from torch.utils._python_dispatch import TorchDispatchMode

def switch(on, check_nan=True):
    torch.autograd.set_detect_anomaly(on, check_nan)
def state():
    return [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]

def loss_with_nan():
    return (torch.tensor([0.0, -1.0], requires_grad=True).sqrt() * 0).sum()

def error_of_backward():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            loss_with_nan().backward()
        except RuntimeError as error:
            return str(error)
    return ""

def warning_of_backward():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            loss_with_nan().backward()
        except RuntimeError:
            pass
    return "".join(str(warning.message) for warning in seen)

class Names(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(str(function))
        return function(*args, **(kwargs or {}))

def operators_of_backward(loss=loss_with_nan):
    made = loss()
    with Names() as seen:
        made.backward()
    return " ".join(seen.names)

def operators_of_finite_backward():
    return operators_of_backward(lambda: torch.ones(2, requires_grad=True).sqrt().sum())

def keeps_stack():
    return "traceback_" in (torch.ones(1, requires_grad=True) * 2).grad_fn.metadata

def both_ways(rounds, meet):
    """Switches on and off; says what was not as it should be."""
    for n in range(rounds):
        with torch.autograd.set_detect_anomaly(True, check_nan=n % 2 == 0):
            meet()
            if not keeps_stack():
                return f"round {n}: on, and no stack"
            if ("nan" in error_of_backward()) != (n % 2 == 0):
                return f"round {n}: on, and the check for NaN is not as it was set"
        meet()
        if keeps_stack() or error_of_backward():
            return f"round {n}: off, and not gone"
    return ""
def switch_often(rounds): return both_ways(rounds, lambda: None)
)py";

class Anomaly : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared = new InterpreterManager(kInterpreters);
    shared->registerModuleSource("anomaly_test", kModule);
  }
  static void TearDownTestSuite() { delete shared; }
  inline static InterpreterManager* shared = nullptr;

  at::IValue call(int k, const char* function, std::vector<at::IValue> arguments = {}) {
    auto I = shared->allInstances()[k].acquireSession();
    return I.global("anomaly_test", function)(arguments).toIValue();
  }
  std::string text(int k, const char* function) { return call(k, function).toStringRef(); }
};

at::Tensor gradientOfCpp() {
  const at::Tensor leaf = at::tensor({0.0f, -1.0f}).requires_grad_();
  at::mul(leaf.sqrt(), 0).sum().backward();
  return leaf.grad();
}

TEST_F(Anomaly, IsSeenOnlyWhereItIsOn) {
  const std::string operators = text(1, "operators_of_backward");
  call(0, "switch", {true});

  const auto state = call(0, "state").toList();
  EXPECT_TRUE(at::IValue(state.get(0)).toBool());
  EXPECT_TRUE(call(0, "keeps_stack").toBool());
  EXPECT_NE(text(0, "error_of_backward").find("returned nan values in its 0th output"),
            std::string::npos);
  EXPECT_NE(text(0, "warning_of_backward").find("in loss_with_nan"), std::string::npos)
      << "the forward call that caused it";
  EXPECT_NE(text(0, "operators_of_finite_backward").find("aten.isnan"), std::string::npos);

  for (int k = 1; k < kInterpreters; ++k) {
    EXPECT_FALSE(at::IValue(call(k, "state").toList().get(0)).toBool());
    EXPECT_FALSE(call(k, "keeps_stack").toBool());
    EXPECT_EQ(text(k, "error_of_backward"), "");
    EXPECT_EQ(text(k, "operators_of_backward"), operators) << "no check runs";
  }
  EXPECT_TRUE(at::isnan(gradientOfCpp()).any().item<bool>()) << "C++ goes on without";

  call(0, "switch", {false});
  EXPECT_FALSE(call(0, "keeps_stack").toBool());
  EXPECT_EQ(text(0, "error_of_backward"), "");
  EXPECT_FALSE(AnomalyMode::is_enabled()) << "torch's own is as before";
}

TEST_F(Anomaly, TracebacksWithoutTheCheckForNan) {
  call(0, "switch", {true, false});
  call(1, "switch", {true, true});
  EXPECT_TRUE(call(0, "keeps_stack").toBool());
  EXPECT_EQ(text(0, "error_of_backward"), "");
  EXPECT_NE(text(1, "error_of_backward"), "");
  call(1, "switch", {false});
  EXPECT_TRUE(call(0, "keeps_stack").toBool());
  call(0, "switch", {false});
  EXPECT_FALSE(AnomalyMode::is_enabled());
  EXPECT_TRUE(AnomalyMode::should_check_nan()) << "as torch begins";
}

TEST_F(Anomaly, SwitchedByAllAtOnce) {
  std::barrier gate(kInterpreters);
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < kInterpreters; ++k)
      threads.emplace_back([&, k] {
        gate.arrive_and_wait();
        EXPECT_EQ(call(k, "switch_often", {100}).toStringRef(), "") << "interpreter " << k;
      });
  }
  EXPECT_FALSE(AnomalyMode::is_enabled());
}

TEST_F(Anomaly, OfCppStaysInCpp) {
  {
    const torch::autograd::DetectAnomalyGuard guard;
    EXPECT_ANY_THROW(gradientOfCpp());
    EXPECT_EQ(text(0, "error_of_backward"), "");
    EXPECT_FALSE(call(0, "keeps_stack").toBool());
    call(0, "switch", {true, false});
    EXPECT_ANY_THROW(gradientOfCpp());
    EXPECT_EQ(text(0, "error_of_backward"), "");
    call(0, "switch", {false});
    EXPECT_ANY_THROW(gradientOfCpp()) << "an interpreter's off is not C++'s";
  }
  EXPECT_FALSE(AnomalyMode::is_enabled());
  gradientOfCpp();
}

TEST_F(Anomaly, OfCppIsSwitchedWhileAnInterpreterHasIt) {
  call(0, "switch", {true});
  EXPECT_FALSE(AnomalyMode::is_enabled());
  {
    const torch::autograd::DetectAnomalyGuard guard;
    EXPECT_ANY_THROW(gradientOfCpp());
    EXPECT_EQ(text(1, "error_of_backward"), "");
  }
  gradientOfCpp();
  EXPECT_TRUE(call(0, "keeps_stack").toBool());
  EXPECT_NE(text(0, "error_of_backward"), "");
  {
    const torch::autograd::DetectAnomalyGuard guard;
    call(0, "switch", {false});
    EXPECT_ANY_THROW(gradientOfCpp());
  }
  EXPECT_FALSE(AnomalyMode::is_enabled());
  gradientOfCpp();
}

TEST_F(Anomaly, OfCppThatEndsMeanwhileHasEnded) {
  AnomalyMode::set_enabled(true, true);
  call(0, "switch", {true});
  AnomalyMode::set_enabled(false, true);
  call(0, "switch", {false});
  EXPECT_FALSE(AnomalyMode::is_enabled());
  gradientOfCpp();
}

TEST(AnomalyAtTheEnd, GoesWithItsInterpreter) {
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("anomaly_test", kModule);
    auto I = manager.acquireOne();
    I.global("anomaly_test", "switch")({true});
    EXPECT_TRUE(I.global("anomaly_test", "keeps_stack")({}).toIValue().toBool());
  }
  EXPECT_FALSE(AnomalyMode::is_enabled());
  gradientOfCpp();
}

}  // namespace
}  // namespace multipy::runtime
