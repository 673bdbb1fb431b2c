// Interpreters that use one GPU together. Needs one: scripts/gpu runs this.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "together.h"

namespace multipy::runtime {
namespace {

using stress::together;

constexpr const char* kTools = R"(
import gc
import torch

def first_use():
    x = torch.arange(8.0, device="cuda", requires_grad=True)
    (x * 2).sum().backward()
    return float(x.grad.sum())

def draw_in_steps(seed):
    torch.manual_seed(seed)
    return [torch.rand(1, device="cuda").item() for _ in range(16)]

def allocated():
    gc.collect()
    torch.cuda.synchronize()
    return torch.cuda.memory_allocated()

def take(bytes):
    return torch.zeros(bytes, dtype=torch.uint8, device="cuda")

def address(tensor):
    return tensor.data_ptr()

def add_one(tensor):
    return tensor + 1

def make_model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2048, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 16)).cuda()

def call(model, x):
    with torch.inference_mode():
        return model(x), model[0].weight.data_ptr()

def train(steps):
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 2048, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
    return loss.item()

def take_too_much():
    try:
        torch.empty(1 << 46, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError as error:
        return str(error)

def record_history():
    torch.cuda.memory._record_memory_history(stacks="python")
    return len(held_for_history(100))

def held_for_history(count):
    return [torch.ones(100, device="cuda") for _ in range(count)]

def snapshot():
    found = torch.cuda.memory._snapshot()
    torch.cuda.memory._record_memory_history(enabled=None)
    return len(found["segments"])

class Captured:
    def __init__(self):
        self.held = torch.zeros(4, device="cuda")
        torch.ones(1, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.held * 2
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            self.result = self.held * 2 + torch.rand(4, device="cuda") * 0
    def __call__(self, value):
        self.held.fill_(value)
        self.graph.replay()
        return self.result.sum().item()

def replay(times):
    captured = Captured()
    return [captured(float(i)) for i in range(times)]
)";

class Gpu : public testing::Test {
 protected:
  static std::unique_ptr<InterpreterManager> interpreters(int count) {
    auto manager = std::make_unique<InterpreterManager>(count);
    manager->registerModuleSource("gpu_tools", kTools);
    return manager;
  }
  static at::IValue call(InterpreterManager& in, int slot, const char* function,
                         std::vector<at::IValue> arguments = {}) {
    const auto I = in.allInstances()[slot].acquireSession();
    return I.global("gpu_tools", function)(std::move(arguments)).toIValue();
  }
  static void expectAllAtOnceAsAlone(const char* function, int argument) {
    const auto in = interpreters(4);
    const at::IValue alone = call(*in, 0, function, {argument});
    together(4, [&](int slot) { EXPECT_EQ(call(*in, slot, function, {argument}), alone); });
  }
};

TEST_F(Gpu, ManyInterpretersStartCudaAtOnce) {
  for (int round = 0; round < 3; ++round) {
    const auto in = interpreters(6);
    together(6, [&](int slot) { EXPECT_EQ(call(*in, slot, "first_use").toDouble(), 16); });
  }
}

TEST_F(Gpu, SeedsAndDrawsAreEachInterpretersOwn) {
  const auto in = interpreters(4);
  std::map<int, at::IValue> expected;
  for (int slot = 0; slot < 4; ++slot) expected[slot] = call(*in, 0, "draw_in_steps", {slot});
  EXPECT_NE(expected[0], expected[1]);
  for (int round = 0; round < 20; ++round)
    together(
        4, [&](int slot) { EXPECT_EQ(call(*in, slot, "draw_in_steps", {slot}), expected[slot]); });
}

TEST_F(Gpu, OneAllocatorServesAllInterpreters) {
  const auto in = interpreters(2);
  const std::int64_t before = call(*in, 1, "allocated").toInt();
  at::IValue held = call(*in, 0, "take", {64 << 20});
  EXPECT_EQ(call(*in, 1, "allocated").toInt() - before, 64 << 20);
  held = {};
  EXPECT_EQ(call(*in, 1, "allocated").toInt(), before);
}

TEST_F(Gpu, TensorsCrossWithoutACopy) {
  const auto in = interpreters(2);
  const at::IValue made = call(*in, 0, "take", {1 << 20});
  EXPECT_EQ(call(*in, 1, "address", {made}).toInt(),
            reinterpret_cast<std::int64_t>(made.toTensor().data_ptr()));
  EXPECT_TRUE(made.toTensor().is_cuda());
  EXPECT_EQ(call(*in, 1, "add_one", {made}).toTensor().sum().item<std::int64_t>(), 1 << 20);
}

TEST_F(Gpu, WeightsAreThereOnce) {
  const auto in = interpreters(4);
  ReplicatedObj model;
  {
    auto I = in->allInstances()[0].acquireSession();
    model = in->createMovable(I.global("gpu_tools", "make_model")(std::vector<at::IValue>{}), &I);
  }
  const at::Tensor x = call(*in, 0, "take", {2048}).toTensor().to(at::kFloat).reshape({1, 2048});
  std::vector<at::IValue> found(4);
  together(4, [&](int slot) {
    auto I = in->allInstances()[slot].acquireSession();
    for (int times = 0; times < 20; ++times)
      found[slot] = I.global("gpu_tools", "call")({model.toObj(&I), I.fromIValue(x)}).toIValue();
  });
  for (const at::IValue& result : found) {
    EXPECT_TRUE(result.toTuple()->elements()[0].toTensor().equal(
        found[0].toTuple()->elements()[0].toTensor()));
    EXPECT_EQ(result.toTuple()->elements()[1].toInt(), found[0].toTuple()->elements()[1].toInt());
  }
}

TEST_F(Gpu, TrainingInAllAtOnceEqualsTrainingAlone) { expectAllAtOnceAsAlone("train", 30); }

TEST_F(Gpu, InterpretersThatUsedTheGpuAreReplaced) {
  const auto in = interpreters(2);
  call(*in, 0, "train", {2});
  call(*in, 1, "train", {2});
  const std::int64_t before = call(*in, 1, "allocated").toInt();
  for (int times = 0; times < 10; ++times) {
    std::jthread other([&] { call(*in, 1, "train", {50}); });
    in->replace(in->allInstances()[0].slot());
    call(*in, 0, "train", {2});
  }
  // (Each thread that multiplies has a workspace of cuBLAS, and takes over that of one that ended.)
  EXPECT_LT(call(*in, 1, "allocated").toInt(), before + (200 << 20));
}

TEST_F(Gpu, CudaGraphsOfSeveralInterpreters) { expectAllAtOnceAsAlone("replay", 50); }

TEST_F(Gpu, OutOfMemoryIsOneInterpretersError) {
  const auto in = interpreters(2);
  const std::string error = call(*in, 0, "take_too_much").toStringRef();
  EXPECT_NE(error.find("out of memory"), std::string::npos) << error;
  EXPECT_EQ(call(*in, 1, "first_use").toDouble(), 16);
  EXPECT_EQ(call(*in, 0, "first_use").toDouble(), 16);
}

TEST_F(Gpu, HistoryOutlivesTheInterpreterThatBeganIt) {
  const auto in = interpreters(2);
  call(*in, 0, "record_history");
  call(*in, 1, "train", {2});
  in->replace(in->allInstances()[0].slot());
  call(*in, 1, "train", {2});
  EXPECT_GT(call(*in, 1, "snapshot").toInt(), 0);
}

TEST_F(Gpu, CppTensorsOnTheGpuAreArguments) {
  const auto in = interpreters(2);
  const at::Tensor made = at::ones({3}, at::device(at::kCUDA).dtype(at::kFloat));
  for (int slot = 0; slot < 2; ++slot)
    EXPECT_EQ(call(*in, slot, "add_one", {made}).toTensor().sum().item<double>(), 6);
}

}  // namespace
}  // namespace multipy::runtime
