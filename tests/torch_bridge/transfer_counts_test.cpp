// Numbers that each thread counts for itself.
#include "torch_bridge/tensors/transfer_counts.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace multipy::bridge {
namespace {

TEST(StorageCounts, AreThoseOfAllThreadsThatAreAndWere) {
  constexpr int kThreads = 8, kRounds = 20, kCounts = 1000;
  const TransferSums before = transferSums();
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([thread] {
        for (int i = 0; i < kCounts; ++i) {
          countTransfer();
          countLive(thread % 2 ? 1 : -1);  // made by one thread, gone in another
          if (i % 100 == 0) transferSums();
        }
      });
  }
  const TransferSums after = transferSums();
  EXPECT_EQ(after.transfers - before.transfers, long{kThreads} * kRounds * kCounts);
  EXPECT_EQ(after.live, before.live);
}

// Its thread-local numbers have gone before it, since it was there first.
struct CountsAtTheVeryEnd {
  ~CountsAtTheVeryEnd() { countLive(-1); }
};

TEST(StorageCounts, MayBeCountedWhenAThreadIsNearlyGone) {
  const TransferSums before = transferSums();
  for (int i = 0; i < 10; ++i)
    std::thread([] {
      thread_local const CountsAtTheVeryEnd last;
      [[maybe_unused]] const void* const made = &last;
      countLive(1);
    }).join();
  EXPECT_EQ(transferSums().live, before.live);
}

}  // namespace
}  // namespace multipy::bridge
