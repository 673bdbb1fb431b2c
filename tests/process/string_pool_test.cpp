#include "process/string_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "forked_children.h"

namespace multipy::process {
namespace {

constexpr std::size_t kEnough = 64 << 20;

std::string textNumber(int number) {
  return "text " + std::to_string(number) + std::string(300, '.');
}

TEST(StringPool, EqualTextsLieInOnePlace) {
  StringPool texts(kEnough);
  const char* const one = texts.share("a text");
  ASSERT_NE(one, nullptr);
  EXPECT_STREQ(one, "a text");
  EXPECT_EQ(texts.share(std::string("a text")), one);
  EXPECT_NE(texts.share("another"), one);
  const char* const withNul = texts.share(std::string("a text\0more", 11));
  EXPECT_EQ(std::string(withNul, 12), std::string("a text\0more\0", 12));
  EXPECT_EQ(texts.counts().texts, 3u);
  EXPECT_EQ(texts.counts().bytes, 6u + 7 + 11);
  EXPECT_EQ(texts.counts().uses, 4u);
}

TEST(StringPool, StayUntilTheLastUseIsReleased) {
  StringPool texts(kEnough);
  const char* const kept = texts.share("kept");
  EXPECT_EQ(texts.share("kept"), kept);
  StringPool::release(kept);
  for (int number = 0; number < 100000; ++number) {
    const char* const passing = texts.share(textNumber(number));
    ASSERT_NE(passing, nullptr);
    StringPool::release(passing);
  }
  EXPECT_STREQ(kept, "kept");
  EXPECT_EQ(texts.share("kept"), kept);
  EXPECT_EQ(texts.counts().uses, 2u);
  EXPECT_LT(texts.counts().texts, 5000u) << "those without a use are freed now and then";
  StringPool::release(kept);
  StringPool::release(kept);
  EXPECT_EQ(texts.counts().uses, 0u);
  ASSERT_NE(texts.share("kept"), nullptr) << "used again, or made again";
}

TEST(StringPool, BlocksOfMallocAreNotTakenForThem) {
  StringPool texts(kEnough);
  for (const std::size_t size : {1u, 24u, 300u, 1u << 20}) {
    const std::unique_ptr<void, decltype(&std::free)> block(std::malloc(size), &std::free);
    EXPECT_FALSE(StringPool::release(static_cast<const char*>(block.get())));
  }
  EXPECT_TRUE(StringPool::release(texts.share("a text")));
}

TEST(StringPool, NeverHoldMoreThanTheirCapacity) {
  constexpr std::size_t kCapacity = 256 << 10;
  StringPool texts(kCapacity);
  std::vector<const char*> shared;
  for (int number = 0; number < 5000; ++number) {
    if (const char* const text = texts.share(textNumber(number))) shared.push_back(text);
    ASSERT_LE(texts.counts().bytes, kCapacity);
  }
  EXPECT_GT(texts.counts().bytes, kCapacity / 2);
  EXPECT_LT(shared.size(), 5000u);
  EXPECT_EQ(texts.share(std::string(kCapacity, 'x')), nullptr);
  for (const char* const text : shared) StringPool::release(text);
  for (int number = 5000; number < 5100; ++number)
    EXPECT_NE(texts.share(textNumber(number)), nullptr) << "in the place of what has no use";
}

TEST(StringPool, ManyThreadsShareAndRelease) {
  StringPool texts(kEnough);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<std::pair<int, const char*>> mine;
      for (int turn = 0; turn < 20000; ++turn) {
        const int number = (turn * 7 + thread * 13) % 700;
        if (const char* const text = texts.share(textNumber(number)))
          mine.emplace_back(number, text);
        if (mine.size() < 50) continue;
        for (const auto& [number, text] : mine) {
          wrong += text != textNumber(number);
          StringPool::release(text);
        }
        mine.clear();
      }
      for (const auto& [number, text] : mine) StringPool::release(text);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(texts.counts().uses, 0u);
}

// A thread that was in a shard when the process was forked off is in it for ever. (The child
// shares what is there: it allocates nothing.)
TEST(StringPool, TheChildOfAForkDoesNotWait) {
  StringPool texts(kEnough);
  std::vector<std::string> all;
  std::vector<const char*> shared;
  for (int number = 0; number < 500; ++number) {
    all.push_back(textNumber(number));
    shared.push_back(texts.share(all.back()));
  }
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    for (int turn = 0; !stop; ++turn)
      if (const char* const text = texts.share(all[turn % 500])) StringPool::release(text);
  });
  testing_support::expectChildrenToEnd(50, [&] {
    int wrong = 0;
    for (int number = 0; number < 500; ++number) {
      const char* const text = texts.share(all[number]);
      wrong += text && text != shared[number];
      StringPool::release(shared[number]);
    }
    return wrong != 0;
  });
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace multipy::process
