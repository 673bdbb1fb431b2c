#include "process/code_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "forked_children.h"

namespace multipy::process {
namespace {

std::string keyNumber(int number) { return "text " + std::to_string(number); }

TEST(CodeCache, FindsWhatWasKept) {
  CodeCache texts(1 << 20);
  std::string code = "untouched";
  EXPECT_FALSE(texts.find("a", code));
  EXPECT_EQ(code, "untouched");
  texts.keep("a", "code of a");
  texts.keep(std::string("a\0b", 3), "code of a0b");
  ASSERT_TRUE(texts.find("a", code));
  EXPECT_EQ(code, "code of a");
  ASSERT_TRUE(texts.find(std::string("a\0b", 3), code));
  EXPECT_EQ(code, "code of a0b");
  EXPECT_EQ(texts.counts().texts, 2u);
  EXPECT_EQ(texts.counts().found, 2u);
  EXPECT_EQ(texts.counts().bytes, 1u + 9 + 3 + 11);
}

TEST(CodeCache, KeepsTheFirstCodeOfAKey) {
  CodeCache texts(1 << 20);
  texts.keep("a", "first");
  texts.keep("a", "second");
  std::string code;
  ASSERT_TRUE(texts.find("a", code));
  EXPECT_EQ(code, "first");
  EXPECT_EQ(texts.counts().texts, 1u);
}

TEST(CodeCache, ForgetsWhatIsNotAskedForAndNeverHoldsMoreThanItsCapacity) {
  constexpr std::size_t kCapacity = 256 << 10;
  CodeCache texts(kCapacity);
  const std::string thousand(1000, 'c');
  texts.keep("wanted", thousand);
  texts.keep("unwanted", thousand);
  std::string code;
  for (int number = 0; number < 5000; ++number) {
    texts.keep(keyNumber(number), thousand);
    ASSERT_LE(texts.counts().bytes, kCapacity);
    ASSERT_TRUE(texts.find("wanted", code)) << number;
  }
  EXPECT_FALSE(texts.find("unwanted", code));
  EXPECT_FALSE(texts.find(keyNumber(0), code));
  EXPECT_TRUE(texts.find(keyNumber(4999), code));
  EXPECT_GT(texts.counts().bytes, kCapacity / 4);
}

TEST(CodeCache, KeepsNothingThatIsLargerThanAShard) {
  CodeCache texts(64 << 10);
  texts.keep("large", std::string(3 << 10, 'c'));
  std::string code;
  EXPECT_FALSE(texts.find("large", code));
  EXPECT_EQ(texts.counts().bytes, 0u);
}

TEST(CodeCache, ManyThreadsGetWholeCodes) {
  CodeCache texts(32 << 10);  // so that they forget all the time
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::string code;
      for (int turn = 0; turn < 20000; ++turn) {
        const int number = (turn * 7 + thread) % 300;
        const std::string right(static_cast<std::size_t>(number), "abcdefg"[number % 7]);
        if (texts.find(keyNumber(number), code)) {
          wrong += code != right;
        } else {
          texts.keep(keyNumber(number), right);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(texts.counts().found, 0u);
}

// A thread that was in a shard when the process was forked off is in it for ever. (The child
// allocates nothing: AddressSanitizer's own allocator does wait there.)
TEST(CodeCache, TheChildOfAForkDoesNotWait) {
  CodeCache texts(1 << 20);
  std::vector<std::string> keys;
  for (int number = 0; number < 500; ++number) keys.push_back(keyNumber(number));
  std::string code(1000, ' ');
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    std::string found;
    for (int turn = 0; !stop; ++turn) {
      texts.keep(keys[turn % 500], std::string(500, 'c'));
      texts.find(keys[turn % 500], found);
    }
  });
  testing_support::expectChildrenToEnd(50, [&] {
    for (const std::string& key : keys) texts.find(key, code);
    return 0;
  });
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace multipy::process
