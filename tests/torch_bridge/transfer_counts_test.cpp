// Numbers that each thread counts for itself.
#include "torch_bridge/tensors/transfer_counts.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace multipy::routing {
namespace {

TEST(HandoffCounts, AreThoseOfAllThreadsThatAreAndWere) {
  constexpr int kThreads = 8, kRounds = 20, kCounts = 1000;
  const HandoffSums before = handoffSums();
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([thread] {
        for (int i = 0; i < kCounts; ++i) {
          countCrossing();
          countLive(thread % 2 ? 1 : -1);  // made by one thread, gone in another
          if (i % 100 == 0) handoffSums();
        }
      });
  }
  const HandoffSums after = handoffSums();
  EXPECT_EQ(after.crossings - before.crossings, long{kThreads} * kRounds * kCounts);
  EXPECT_EQ(after.live, before.live);
}

// Its thread-local numbers have gone before it, since it was there first.
struct CountsAtTheVeryEnd {
  ~CountsAtTheVeryEnd() { countLive(-1); }
};

TEST(HandoffCounts, MayBeCountedWhenAThreadIsNearlyGone) {
  const HandoffSums before = handoffSums();
  for (int i = 0; i < 10; ++i)
    std::thread([] {
      thread_local const CountsAtTheVeryEnd last;
      [[maybe_unused]] const void* const made = &last;
      countLive(1);
    }).join();
  EXPECT_EQ(handoffSums().live, before.live);
}

}  // namespace
}  // namespace multipy::routing
