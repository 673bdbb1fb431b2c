// A model called from more threads than there are interpreters, and from threads
// that come and go.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/replicated_obj.h>

#include <unistd.h>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "together.h"

namespace multipy::stress {
namespace {

using runtime::InterpreterManager;
using runtime::ReplicatedObj;

constexpr int kInterpreters = 4;
constexpr int kLayers = 8;

constexpr const char* kModule = R"(
import torch

def make_mlp(layers):
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(64, 64), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts).eval().requires_grad_(False)
)";

class CallsStress : public testing::Test {
 protected:
  CallsStress() : manager_(kInterpreters) {
    manager_.registerModuleSource("calls_stress", kModule);
    auto session = manager_.acquireOne();
    auto model = session.global("calls_stress", "make_mlp")({kLayers});
    for (int layer = 0; layer < kLayers; ++layer) {
      auto linear = model.attr(std::to_string(2 * layer).c_str());
      weights_.push_back(linear.attr("weight").toIValue().toTensor());
      biases_.push_back(linear.attr("bias").toIValue().toTensor());
    }
    model_ = session.createMovable(model);
  }

  /// What the model answers, computed without any Python.
  at::Tensor expected(at::Tensor x) const {
    for (int layer = 0; layer < kLayers; ++layer)
      x = at::relu(at::linear(x, weights_[layer], biases_[layer]));
    return x;
  }

  InterpreterManager manager_;
  ReplicatedObj model_;
  std::vector<at::Tensor> weights_, biases_;
};

TEST_F(CallsStress, TwelveThreadsOnFourInterpretersAnswerLikeCpp) {
  constexpr int kThreads = 12;
  constexpr int kCalls = 1500;
  std::atomic<int> wrong = 0;
  together(kThreads, [&](int) {
    at::set_num_threads(1);
    for (int call = 0; call < kCalls; ++call) {
      const at::Tensor x = at::randn({1 + call % 4, 64});
      if (!at::allclose(model_({x}).toTensor(), expected(x), 1e-5, 1e-6)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(CallsStress, EveryReplicaHasTheSameWeights) {
  std::vector<const void*> addresses(kInterpreters);
  together(kInterpreters, [&](int i) {
    auto session = model_.acquireSession(&manager_.allInstances()[i]);
    addresses[i] = session.self.attr("0").attr("weight").toIValue().toTensor().data_ptr();
  });
  for (const void* address : addresses) EXPECT_EQ(address, weights_[0].data_ptr());
}

TEST_F(CallsStress, ReplicasAreMadeAndUnloadedWhileOthersCall) {
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  together(6, [&](int thread) {
    at::set_num_threads(1);
    if (thread < 2) {
      for (int round = 0; round < 100; ++round)
        model_.unload(&manager_.allInstances()[round % kInterpreters]);
      done = true;
      return;
    }
    while (!done) {
      const at::Tensor x = at::randn({1, 64});
      if (!at::allclose(model_({x}).toTensor(), expected(x), 1e-5, 1e-6)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

std::size_t residentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// What 6,000 threads' states left behind would take: 26 MB, as seen when they were.
#ifdef __SANITIZE_THREAD__
constexpr std::size_t kAllowedGrowth = 16u << 20;  // it keeps some of each thread for its reports
#else
constexpr std::size_t kAllowedGrowth = 8u << 20;
#endif
TEST_F(CallsStress, ThreadsThatEndLeaveNothingBehind) {
  const at::Tensor x = at::randn({1, 64});
  const at::Tensor y = expected(x);
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  const auto call = [&] {
    if (!at::allclose(model_({x}).toTensor(), y, 1e-5, 1e-6)) ++wrong;
  };
  const auto shortLived = [&](int threads) {
    for (int i = 0; i < threads; ++i) {
      std::thread([&, i] {
        at::set_num_threads(1);
        auto session = model_.acquireSession(&manager_.allInstances()[i % kInterpreters]);
        call();
      }).join();
    }
  };
  std::thread lasting([&] {
    at::set_num_threads(1);
    while (!done) call();
  });
  shortLived(200);
  const std::size_t before = residentBytes();
  together(2, [&](int) { shortLived(3000); });
  for (int i = 0; i < 4 * kInterpreters; ++i) call();
  const std::size_t after = residentBytes();
  done = true;
  lasting.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(after, before + kAllowedGrowth);
}

}  // namespace
}  // namespace multipy::stress
