// What C++ does with torch itself (operators, TorchScript, AOTInductor) goes on
// beside busy interpreters and knows nothing of them; and the profiler tells whose
// events it recorded.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter_manager.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#if __has_include(<torch/csrc/inductor/aoti_package/model_package_loader.h>)  // from torch 2.5 on
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#define MULTIPY_TEST_HAS_AOTI_PACKAGES 1
#endif

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <iostream>
#include <sstream>
#include <thread>

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;

constexpr int kInterpreters = 4;

constexpr const char* kModule = R"py(
import io, json, os, tempfile
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 4)
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape))
    def forward(self, x):
        return torch.softmax(self.second(torch.relu(self.first(x))), -1)

def inputs(): return torch.linspace(-2, 2, 24).reshape(3, 8)
def expected():
    with torch.no_grad():
        return Model()(inputs())

def scripted():
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(Model().eval()), buffer)
    return buffer.getvalue()

def packaged(path):
    exported = torch.export.export(Model().eval(), (inputs(),))
    return torch._inductor.aoti_compile_and_package(exported, package_path=path)

def work():
    """Keeps torch busy in every way that C++ could notice."""
    x = inputs().requires_grad_()
    Model()(x).sum().backward()
    with torch.no_grad(), torch.random.fork_rng():
        torch.nn.functional.dropout(x)
    return float(x.grad.sum())

def printing():
    @torch.jit.script
    def f(x: int):
        print("in TorchScript:", x)
    import sys
    old, sys.stdout = sys.stdout, io.StringIO()
    try:
        f(3)
        return sys.stdout.getvalue()
    finally:
        sys.stdout = old

def profiled():
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU]) as found:
        work()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        found.export_chrome_trace(path)
        with open(path) as file:
            trace = json.load(file)
    names = {event["name"] for event in trace["traceEvents"] if "name" in event}
    return trace["multipy_interpreter"], "aten::linear" in names
)py";

class Beside : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    manager = new InterpreterManager(kInterpreters);
    manager->registerModuleSource("beside_test", kModule);
  }
  static void TearDownTestSuite() { delete manager; }

  static at::IValue ask(const char* function, std::vector<at::IValue> arguments = {}, int k = 0) {
    auto I = manager->allInstances()[k].acquireSession();
    return I.global("beside_test", function)(arguments).toIValue();
  }

  /// Runs `body` on two C++ threads, many times, while all interpreters work.
  static void whileAllWork(const std::function<void()>& body) {
    std::atomic<bool> enough{false};
    std::atomic<int> worked{0};
    std::vector<std::jthread> threads;
    for (int k = 0; k < kInterpreters; ++k)
      threads.emplace_back([&, k] {
        const double first = ask("work", {}, k).toDouble();
        while (!enough) {
          EXPECT_EQ(ask("work", {}, k).toDouble(), first);
          ++worked;
        }
      });
    std::vector<std::jthread> mine;
    for (int i = 0; i < 2; ++i)
      mine.emplace_back([&] {
        for (int round = 0; round < 200; ++round) body();
      });
    mine.clear();
    while (worked < kInterpreters) std::this_thread::yield();
    enough = true;
  }

  inline static InterpreterManager* manager = nullptr;
};

TEST_F(Beside, OperatorsWithAndWithoutAutograd) {
  const at::Tensor x = at::linspace(-1, 1, 64).reshape({8, 8});
  const at::Tensor product = at::matmul(x, x);
  whileAllWork([&] {
    EXPECT_TRUE(at::equal(at::matmul(x, x), product));
    const at::Tensor leaf = x.clone().requires_grad_();
    at::matmul(leaf, leaf).sum().backward();
    EXPECT_TRUE(leaf.grad().allclose(x.sum(1).expand({8, 8}) + x.sum(0).unsqueeze(1)));
  });
}

TEST_F(Beside, TorchScript) {
  std::istringstream bytes(ask("scripted").toStringRef());
  torch::jit::Module module = torch::jit::load(bytes);
  const at::Tensor inputs = ask("inputs").toTensor(), expected = ask("expected").toTensor();
  whileAllWork([&] {
    const at::NoGradGuard off;
    EXPECT_TRUE(module.forward({inputs}).toTensor().allclose(expected));
  });
}

#ifdef MULTIPY_TEST_HAS_AOTI_PACKAGES
TEST_F(Beside, AnAotInductorModel) {
  std::string folder = (fs::temp_directory_path() / "multipy-aoti-XXXXXX").string();
  ::mkdtemp(folder.data());
  const std::string path = ask("packaged", {folder + "/model.pt2"}).toStringRef();
  {
    torch::inductor::AOTIModelPackageLoader model(path, "model");
    const at::Tensor inputs = ask("inputs").toTensor(), expected = ask("expected").toTensor();
    whileAllWork([&] {
      const at::NoGradGuard off;
      EXPECT_TRUE(model.run({inputs}).at(0).allclose(expected));
    });
  }
  fs::remove_all(folder);
}
#endif

TEST_F(Beside, TorchScriptPrintsWhereItRuns) {
  // In an interpreter: to its sys.stdout. In C++: to the process's.
  for (int k = 0; k < kInterpreters; ++k)
    EXPECT_EQ(ask("printing", {}, k).toStringRef(), "in TorchScript: 3\n");
  torch::jit::Module module("printer");
  module.define("def forward(self, x: int) -> int:\n  print('in TorchScript:', x)\n  return x\n");
  testing::internal::CaptureStdout();
  module.forward({at::IValue(4)});
  std::cout.flush();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "in TorchScript: 4\n");
}

TEST_F(Beside, AProfileNamesItsInterpreter) {
  std::vector<int64_t> named;
  for (int k = 0; k < kInterpreters; ++k) {
    const auto found = ask("profiled", {}, k).toTuple();
    EXPECT_TRUE(found->elements()[1].toBool());
    named.push_back(found->elements()[0].toInt());
  }
  std::sort(named.begin(), named.end());
  EXPECT_EQ(std::unique(named.begin(), named.end()), named.end());
}

}  // namespace
}  // namespace multipy::runtime
