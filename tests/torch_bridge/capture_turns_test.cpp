#include "torch_bridge/state/capture_turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace multipy::bridge {
namespace {

using namespace std::chrono_literals;

constexpr auto kForGood = 10min;
const int graphs[2] = {};

TEST(CaptureTurns, AWaitLetsTheCaptureOfAnotherThreadEnd) {
  CaptureTurns turns(kForGood);
  turns.beginCapture(&graphs[0]);
  std::atomic<bool> isCapturing = true;
  std::jthread waiting([&] {
    turns.beginWait();
    EXPECT_FALSE(isCapturing);
    turns.endWait();
  });
  std::this_thread::sleep_for(20ms);  // so that it has most likely begun
  isCapturing = false;
  turns.endCapture(&graphs[0]);
}

TEST(CaptureTurns, ACaptureLetsTheWaitOfAnotherThreadEnd) {
  CaptureTurns turns(kForGood);
  turns.beginWait();
  std::atomic<bool> isWaiting = true;
  std::jthread capturing([&] {
    turns.beginCapture(&graphs[0]);
    EXPECT_FALSE(isWaiting);
    turns.endCapture(&graphs[0]);
  });
  std::this_thread::sleep_for(20ms);
  isWaiting = false;
  turns.endWait();
}

TEST(CaptureTurns, CapturesGoTogetherAndSoDoWaits) {
  CaptureTurns turns(kForGood);
  turns.beginCapture(&graphs[0]);
  std::thread([&] { turns.beginCapture(&graphs[1]); }).join();
  turns.endCapture(&graphs[0]);
  turns.endCapture(&graphs[1]);
  turns.beginWait();
  std::thread([&] { turns.beginWait(); }).join();
}

TEST(CaptureTurns, AThreadDoesNotWaitForItself) {
  CaptureTurns turns(kForGood);
  turns.beginCapture(&graphs[0]);
  turns.beginWait();
  turns.endWait();
  turns.endCapture(&graphs[0]);
}

TEST(CaptureTurns, ACaptureThatDoesNotEndIsGivenUp) {
  CaptureTurns turns(10ms);
  std::thread([&] { turns.beginCapture(&graphs[0]); }).join();
  turns.beginWait();
  turns.endWait();
}

}  // namespace
}  // namespace multipy::bridge
