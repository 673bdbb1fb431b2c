// Tensors handed from C++ to interpreters, between them and back, by four threads
// at once: kept there, viewed, backed by numpy, changed in place, dropped wherever
// they happen to be. At the end nothing of them may be left.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/obj.h>

#include <atomic>
#include <random>
#include <string>
#include <vector>

#include "together.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::stress {
namespace {

using runtime::InterpreterManager;
using runtime::InterpreterSession;
using runtime::Obj;

constexpr int kInterpreters = 4;
constexpr int kThreads = 4;
constexpr int kTransfers = 20000;
constexpr int kPlaces = 32;

// Every tensor here is filled with one number, so any damage shows.
constexpr const char* kModule = R"(
import gc
import numpy
import torch

kept = {}

def exchange(place, tensor):
    old = kept.get(place)
    kept[place] = tensor
    return tensor if old is None else old

def same(tensor):
    return tensor

def view(tensor):
    return tensor[1:]

def new(number):
    return torch.full((4, 8), number)

def from_numpy(number):
    return torch.from_numpy(numpy.full((4, 8), number, dtype=numpy.float32))

def increment(tensor):
    tensor.add_(1)

def forget():
    kept.clear()
    gc.collect()

def change(number, tensor):
    """Mostly what nothing else refers to; sometimes what is kept, or what it was called with."""
    if number % 8 == 0:
        return exchange(number, tensor)
    if number % 8 == 1:
        return tensor
    if number % 8 == 2:
        return tensor.add_(1)
    if number % 8 == 3:
        return [tensor, tensor]
    return tensor + number

def tensors_alive():
    gc.collect()
    return sum(type(o) is torch.Tensor for o in gc.get_objects())
)";

bool isUniform(const at::Tensor& tensor) {
  return tensor.numel() > 0 && tensor.eq(tensor.flatten()[0]).all().item<bool>();
}

/// One thread's work: a handful of tensors that wander.
class Wanderer {
 public:
  Wanderer(InterpreterManager& manager, int seed) : random_(seed), tensors_(kPlaces) {
    for (const auto& interpreter : manager.allInstances())
      sessions_.push_back(interpreter.acquireSession());
    for (auto& tensor : tensors_) tensor = at::full({4, 8}, static_cast<float>(number()));
  }

  /// Hands one tensor to one interpreter and takes another in its place. Gives
  /// false if a tensor is damaged.
  bool transfer() {
    InterpreterSession& session = sessions_[random_() % sessions_.size()];
    at::Tensor& tensor = tensors_[random_() % tensors_.size()];
    const auto function = [&](const char* name) { return session.global("tensors_stress", name); };
    switch (random_() % 5) {
      case 0:
        tensor = function("exchange")({number(), tensor}).toIValue().toTensor();
        break;
      case 1:
        tensor = function("same")({tensor}).toIValue().toTensor();
        break;
      case 2:
        if (tensor.size(0) > 1) tensor = function("view")({tensor}).toIValue().toTensor();
        break;
      case 3:
        tensor = function("new")({static_cast<double>(number())}).toIValue().toTensor();
        break;
      case 4:
        tensor = function("from_numpy")({number()}).toIValue().toTensor();
        break;
    }
    return isUniform(tensor);
  }

 private:
  int64_t number() { return static_cast<int64_t>(random_() % 1000); }

  std::mt19937 random_;
  std::vector<InterpreterSession> sessions_;
  std::vector<at::Tensor> tensors_;
};

class TensorsStress : public testing::Test {
 protected:
  TensorsStress() : manager_(kInterpreters) {
    manager_.registerModuleSource("tensors_stress", kModule);
    together(kInterpreters, [&](int i) { call(i, "forget"); });  // imports torch
  }

  void call(int interpreter, const char* function) {
    auto session = manager_.allInstances()[interpreter].acquireSession();
    session.global("tensors_stress", function)({});
  }

  InterpreterManager manager_;
};

TEST_F(TensorsStress, NothingIsLeftOfEightyThousandTransfers) {
  const long liveBefore = bridge::statistics().liveTransfers;
  std::atomic<int> damaged = 0;
  together(kThreads, [&](int thread) {
    at::set_num_threads(1);
    Wanderer wanderer(manager_, thread);
    for (int i = 0; i < kTransfers; ++i)
      if (!wanderer.transfer()) ++damaged;
  });
  EXPECT_EQ(damaged, 0);
  EXPECT_GT(bridge::statistics().transfers, kThreads * kTransfers / 2);

  EXPECT_GT(bridge::statistics().liveTransfers, liveBefore);  // those that Python keeps
  for (int i = 0; i < kInterpreters; ++i) call(i, "forget");
  EXPECT_TRUE(soon([&] { return bridge::statistics().liveTransfers == liveBefore; }))
      << bridge::statistics().liveTransfers << " storages are still held, " << liveBefore
      << " were before";
}

// Results that go over to C++ as they are, beside those that cannot.
TEST_F(TensorsStress, ResultsOfCallsLeaveNothingBehind) {
  constexpr int kCalls = 50000;
  const auto alive = [&](int interpreter) {
    auto session = manager_.allInstances()[interpreter].acquireSession();
    return session.global("tensors_stress", "tensors_alive")({}).toIValue().toInt();
  };
  auto session = manager_.acquireOne();
  const auto change = manager_.createMovable(session.global("tensors_stress", "change"), &session);
  std::vector<int64_t> aliveBefore;
  for (int i = 0; i < kInterpreters; ++i) aliveBefore.push_back(alive(i));
  const long liveBefore = bridge::statistics().liveTransfers;

  std::atomic<int> damaged = 0;
  together(kThreads, [&](int thread) {
    at::set_num_threads(1);
    std::mt19937 random(thread);
    std::vector<at::Tensor> tensors(kPlaces, at::zeros({4, 8}));
    for (int i = 0; i < kCalls; ++i) {
      at::Tensor& tensor = tensors[random() % tensors.size()];
      if (random() % 16 == 0) tensor = at::zeros({4, 8});
      const at::IValue result = change({static_cast<int64_t>(random() % 64), tensor});
      tensor = result.isTensor() ? result.toTensor() : result.toTensorVector()[1];
      if (!isUniform(tensor)) ++damaged;
    }
  });
  EXPECT_EQ(damaged, 0);

  for (int i = 0; i < kInterpreters; ++i) call(i, "forget");
  EXPECT_TRUE(soon([&] { return bridge::statistics().liveTransfers == liveBefore; }))
      << bridge::statistics().liveTransfers << " storages are still held, " << liveBefore
      << " were before";
  for (int i = 0; i < kInterpreters; ++i) EXPECT_EQ(alive(i), aliveBefore[i]);
}

TEST_F(TensorsStress, WritesOfAllInterpretersMeetInOneTensor) {
  constexpr int kRounds = 500;
  std::vector<at::Tensor> counters;
  for (int i = 0; i < kInterpreters; ++i) counters.push_back(at::zeros({16}));
  // Each thread goes round the interpreters with a tensor of its own.
  together(kThreads, [&](int thread) {
    at::set_num_threads(1);
    for (int round = 0; round < kRounds; ++round) {
      auto session = manager_.allInstances()[(thread + round) % kInterpreters].acquireSession();
      session.global("tensors_stress", "increment")({counters[thread]});
    }
  });
  for (const at::Tensor& counter : counters)
    EXPECT_TRUE(counter.eq(kRounds).all().item<bool>()) << counter[0].item<float>();
}

// One tensor that every interpreter keeps and that every thread lets go of at
// once: the last reference goes on whichever thread comes last.
TEST_F(TensorsStress, NumpyMemoryIsFreedWhereverItsLastReferenceGoes) {
  const long liveBefore = bridge::statistics().liveTransfers;
  for (int round = 0; round < 200; ++round) {
    auto session = manager_.allInstances()[round % kInterpreters].acquireSession();
    at::Tensor shared =
        session.global("tensors_stress", "from_numpy")({round}).toIValue().toTensor();
    std::vector<at::Tensor> copies(kThreads, shared);
    shared.reset();
    together(kThreads, [&](int thread) {
      auto other = manager_.allInstances()[thread % kInterpreters].acquireSession();
      other.global("tensors_stress", "exchange")({"shared", copies[thread]});
      copies[thread].reset();
    });
  }
  EXPECT_GT(bridge::statistics().liveTransfers, liveBefore);  // those that Python keeps
  for (int i = 0; i < kInterpreters; ++i) call(i, "forget");
  EXPECT_TRUE(soon([&] { return bridge::statistics().liveTransfers == liveBefore; }))
      << bridge::statistics().liveTransfers << " storages are still held";
}

}  // namespace
}  // namespace multipy::stress
