// The device threads of an autograd engine are counted until they are gone. (A
// machine without a GPU has none; these are ordinary threads.)
#include "torch_bridge/autograd/engine_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "base/interpreter_id.h"
#include "process/ownership.h"
#include "torch_bridge/autograd/engine_router.h"

namespace multipy::bridge {
namespace {

class EngineThreads : public testing::Test {
 protected:
  void SetUp() override {
    for (InterpreterId& slot : slots) slot = process::Ownership::instance().admit();
  }
  void TearDown() override {
    for (const InterpreterId slot : slots) process::Ownership::instance().release(slot);
  }
  InterpreterId slots[2];
};

TEST_F(EngineThreads, CountUntilTheyHaveEnded) {
  EXPECT_EQ(engineThreads(slots[0]), 0u);
  std::promise<void> noted[2], end;
  std::shared_future<void> ended(end.get_future());
  std::vector<std::jthread> threads;
  for (auto& one : noted)
    threads.emplace_back([&, ended] {
      noteEngineThread(slots[0]);
      one.set_value();
      ended.wait();
    });
  for (auto& one : noted) one.get_future().wait();
  EXPECT_EQ(engineThreads(slots[0]), 2u);
  EXPECT_EQ(engineThreads(slots[1]), 0u) << "another engine's are not";
  end.set_value();
  threads.clear();
  waitForEngineThreads(slots[0]);  // joined, but perhaps not yet forgotten by the kernel
  EXPECT_EQ(engineThreads(slots[0]), 0u);
}

TEST_F(EngineThreads, AreWaitedForWhenTheEngineStops) {
  std::promise<void> noted;
  std::atomic<bool> worked = false;
  std::jthread thread([&] {
    noteEngineThread(slots[0]);
    noted.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    worked = true;
  });
  noted.get_future().wait();
  stopEngine(slots[0]);
  EXPECT_TRUE(worked);
  EXPECT_EQ(engineThreads(slots[0]), 0u);
}

TEST_F(EngineThreads, OfNoInterpreterAreNobodys) {
  for (const InterpreterId slot : {InterpreterId::none(), InterpreterId::resident()}) {
    noteEngineThread(slot);
    EXPECT_EQ(engineThreads(slot), 0u);
    stopEngine(slot);
  }
}

}  // namespace
}  // namespace multipy::bridge
