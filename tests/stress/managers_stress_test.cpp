// Managers that come and go, one after another and several at a time, while
// another manager's interpreters work.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/obj.h>
#include <multipy/runtime/replicated_obj.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "together.h"

namespace multipy::stress {
namespace {

using runtime::InterpreterManager;
using runtime::Obj;
using runtime::ReplicatedObj;

constexpr const char* kModule = R"(
def square(x):
    return x * x
)";

/// A manager that works on until it is destroyed, with numbers and with tensors.
class Background {
 public:
  Background() : manager_(2) {
    manager_.registerModuleSource("background", kModule);
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Background() { stop(); }
  /// Ends the work; what was wrong in it, and how much of it was done.
  std::pair<int, int> stop() {
    stop_ = true;
    for (auto& thread : threads_)
      if (thread.joinable()) thread.join();
    return {wrong_, calls_};
  }

 private:
  void work() {
    at::set_num_threads(1);
    try {
      const at::Tensor three = at::full({8}, 3.0);
      while (!stop_) {
        auto session = manager_.acquireOne();
        auto square = session.global("background", "square");
        if (square({7}).toIValue().toInt() != 49) ++wrong_;
        if (!square({three}).toIValue().toTensor().eq(9).all().item<bool>()) ++wrong_;
        ++calls_;
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << "the manager in the background: " << error.what();
    }
  }

  InterpreterManager manager_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> wrong_ = 0;
  std::atomic<int> calls_ = 0;
  std::vector<std::thread> threads_;
};

int64_t squareOf(InterpreterManager& manager, int64_t number) {
  auto session = manager.acquireOne();
  return session.global("short_lived", "square")({number}).toIValue().toInt();
}

TEST(ManagersStress, BareManagersComeAndGoWhileOthersWork) {
  Background background;
  together(2, [&](int thread) {
    for (int round = 0; round < 10; ++round) {
      InterpreterManager manager(1 + round % 3);
      manager.registerModuleSource("short_lived", kModule);
      EXPECT_EQ(squareOf(manager, thread + round), (thread + round) * (thread + round));
    }
  });
  const auto [wrong, calls] = background.stop();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(calls, 0);
}

TEST(ManagersStress, ManagersWithTorchComeAndGoWhileOthersWork) {
  Background background;
  for (int round = 0; round < 3; ++round) {
    InterpreterManager manager(2);
    manager.registerModuleSource("short_lived", kModule);
    together(4, [&](int thread) {
      at::set_num_threads(1);
      auto session = manager.acquireOne();
      auto square = session.global("short_lived", "square");
      const at::Tensor x = at::full({4}, static_cast<double>(thread));
      EXPECT_TRUE(at::equal(square({x}).toIValue().toTensor(), x * x));
    });
  }
  const auto [wrong, calls] = background.stop();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(calls, 0);
}

// Handles that outlive their manager may be dropped at any time, on any thread.
TEST(ManagersStress, WhatOutlivesItsManagerIsDroppedSafely) {
  Background background;
  for (int round = 0; round < 5; ++round) {
    std::vector<Obj> objects;
    std::vector<ReplicatedObj> movables;
    {
      InterpreterManager manager(2);
      manager.registerModuleSource("short_lived", kModule);
      for (int i = 0; i < 8; ++i) {
        auto session = manager.acquireOne();
        objects.push_back(session.fromIValue(at::IValue("text " + std::to_string(i))));
        movables.push_back(session.createMovable(objects.back()));
      }
    }
    for (auto& movable : movables)
      EXPECT_THROW(movable(at::ArrayRef<at::IValue>()), runtime::HandleError);
    together(4, [&](int thread) {
      for (int i = thread; i < 8; i += 4) {
        objects[i] = Obj();
        movables[i] = ReplicatedObj();
      }
    });
  }
  EXPECT_EQ(background.stop().first, 0);
}

}  // namespace
}  // namespace multipy::stress
