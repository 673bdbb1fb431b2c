// The allocator under every interpreter, checked against a model of itself: a
// map of what is allocated, with a pattern in every block.
#include "interpreter/cpython/heap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace multipy {
namespace {

class ReservedRange {
 public:
  explicit ReservedRange(std::size_t size)
      : size_(size),
        begin_(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  }
  ~ReservedRange() { munmap(begin_, size_); }
  void* begin() const { return begin_; }
  std::size_t size() const { return size_; }
  bool contains(const void* p, std::size_t n) const {
    return p >= begin_ && static_cast<const char*>(p) + n <= static_cast<char*>(begin_) + size_;
  }

 private:
  std::size_t size_;
  void* begin_;
};

// How much of the `size` bytes behind `begin` is in memory.
std::size_t residentBytes(const void* begin, std::size_t size) {
  constexpr std::size_t kPage = 4096;
  char* const from =
      static_cast<char*>(const_cast<void*>(begin)) - reinterpret_cast<uintptr_t>(begin) % kPage;
  std::vector<unsigned char> pages(size / kPage);
  EXPECT_EQ(mincore(from, size, pages.data()), 0);
  return std::count_if(pages.begin(), pages.end(), [](auto page) { return page & 1; }) * kPage;
}

struct HeapTest : ::testing::Test {
  ReservedRange range{std::size_t{1} << 30};
  Heap heap;
  void SetUp() override { heap.adopt(range.begin(), range.size()); }
};

TEST_F(HeapTest, BlocksAreAlignedAndInsideTheRange) {
  for (std::size_t size : {0ul, 1ul, 15ul, 16ul, 17ul, 511ul, 4096ul, 70000ul, 5000000ul}) {
    void* p = heap.allocate(size);
    ASSERT_NE(p, nullptr) << size;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 16, 0u);
    EXPECT_TRUE(range.contains(p, size));
    std::memset(p, 0xAB, size);
  }
}

TEST_F(HeapTest, ZeroBytesGiveDistinctBlocks) { EXPECT_NE(heap.allocate(0), heap.allocate(0)); }

TEST_F(HeapTest, TooLargeIsNullAndNotACrash) {
  EXPECT_EQ(heap.allocate(range.size()), nullptr);
  EXPECT_EQ(heap.allocate(~std::size_t{0}), nullptr);
  EXPECT_EQ(heap.allocateZeroed(~std::size_t{0} / 2, 4), nullptr);
  void* p = heap.allocate(100);
  EXPECT_EQ(heap.reallocate(p, ~std::size_t{0} - 5), nullptr);
  std::memset(p, 1, 100);  // still ours
}

TEST_F(HeapTest, AllocateZeroedClearsReusedMemory) {
  void* p = heap.allocate(1000);
  std::memset(p, 0xFF, 1000);
  heap.free(p);
  auto* q = static_cast<unsigned char*>(heap.allocateZeroed(10, 100));
  for (int i = 0; i < 1000; i++) ASSERT_EQ(q[i], 0);
}

TEST_F(HeapTest, RandomUseKeepsEveryBlocksBytes) {
  std::mt19937 random(7);
  struct Live {
    std::size_t size;
    unsigned char pattern;
  };
  std::map<unsigned char*, Live> live;
  const auto checkAndForget = [&](auto it) {
    for (std::size_t i = 0; i < it->second.size; i++) ASSERT_EQ(it->first[i], it->second.pattern);
  };
  const auto randomSize = [&] {
    const int magnitude = random() % 18;
    return static_cast<std::size_t>(random() % ((1u << magnitude) + 1));
  };
  for (int step = 0; step < 60000; step++) {
    const auto choice = random() % 10;
    if (choice < 5 || live.empty()) {
      const std::size_t size = randomSize();
      auto* p = static_cast<unsigned char*>(heap.allocate(size));
      ASSERT_NE(p, nullptr);
      // No overlap with a neighbour.
      auto after = live.lower_bound(p);
      if (after != live.end()) {
        ASSERT_LE(p + size, after->first);
      }
      if (after != live.begin()) {
        auto before = std::prev(after);
        ASSERT_LE(before->first + before->second.size, p);
      }
      const auto pattern = static_cast<unsigned char>(random());
      std::memset(p, pattern, size);
      live[p] = {size, pattern};
      continue;
    }
    auto it = live.lower_bound(reinterpret_cast<unsigned char*>(
        static_cast<char*>(range.begin()) + random() % (heap.usage().blockSpace)));
    if (it == live.end()) it = live.begin();
    checkAndForget(it);
    if (choice < 8) {
      heap.free(it->first);
      live.erase(it);
    } else {
      const Live old = it->second;
      const std::size_t size = randomSize();
      auto* p = static_cast<unsigned char*>(heap.reallocate(it->first, size));
      ASSERT_NE(p, nullptr);
      for (std::size_t i = 0; i < std::min(size, old.size); i++) ASSERT_EQ(p[i], old.pattern);
      live.erase(it);
      std::memset(p, old.pattern, size);
      live[p] = {size, old.pattern};
    }
  }
  for (auto it = live.begin(); it != live.end(); ++it) heap.free(it->first);
  EXPECT_EQ(heap.usage().blockBytes, 0u) << "everything coalesced and free";
}

TEST_F(HeapTest, FreedMemoryIsUsedAgain) {
  for (int round = 0; round < 1000; round++) {
    std::vector<void*> blocks;
    for (int i = 0; i < 100; i++) blocks.push_back(heap.allocate(10000));
    for (void* p : blocks) heap.free(p);
  }
  EXPECT_LE(heap.usage().blockSpace, std::size_t{4} << 20);
}

TEST_F(HeapTest, GrowsInPlaceWhereTheNeighbourIsFree) {
  void* p = heap.allocate(1000);
  EXPECT_EQ(heap.reallocate(p, 100000), p);
  EXPECT_EQ(heap.reallocate(p, 10), p);
}

TEST_F(HeapTest, ArenasAreUsedAgain) {
  void* a = heap.allocateArena(1 << 20);
  std::memset(a, 1, 1 << 20);
  heap.freeArena(a, 1 << 20);
  EXPECT_EQ(heap.allocateArena(1 << 20), a);
  EXPECT_EQ(heap.usage().arenaSpace, std::size_t{1} << 20);
}

TEST_F(HeapTest, GivesFreeArenasAndLargeFreeBlocksBackToTheKernel) {
  constexpr std::size_t kMiB = 1 << 20;
  std::vector<void*> arenas, blocks;
  for (int i = 0; i < 32; i++) {
    arenas.push_back(std::memset(heap.allocateArena(kMiB), 1, kMiB));
    blocks.push_back(std::memset(heap.allocate(kMiB / 2), 1, kMiB / 2));
  }
  for (void* arena : arenas) heap.freeArena(arena, kMiB);
  for (void* block : blocks) heap.free(block);
  heap.giveBackFree();
  EXPECT_LE(residentBytes(arenas.back(), 32 * kMiB), 5 * kMiB) << "some stay, to be used again";
  EXPECT_LE(residentBytes(blocks.front(), 16 * kMiB), kMiB);
  // They can be used as before.
  for (int i = 0; i < 32; i++) {
    std::memset(heap.allocateArena(kMiB), 2, kMiB);
    std::memset(heap.allocate(kMiB / 2), 2, kMiB / 2);
  }
  EXPECT_EQ(heap.usage().arenaSpace, 32 * kMiB);
}

TEST_F(HeapTest, ReleaseAllGivesThePagesBack) {
  for (int i = 0; i < 100; i++) std::memset(heap.allocate(1 << 20), 1, 1 << 20);
  heap.releaseAll();
  std::vector<unsigned char> resident(1);
  EXPECT_EQ(mincore(range.begin(), 4096, resident.data()), 0);
  EXPECT_EQ(resident[0] & 1, 0);
  EXPECT_EQ(heap.allocate(1), nullptr);
}

TEST_F(HeapTest, ManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<std::pair<unsigned char*, std::size_t>> mine;
      for (int i = 0; i < 20000; i++) {
        if (mine.size() < 50) {
          const std::size_t size = random() % 2000 + 1;
          auto* p = static_cast<unsigned char*>(heap.allocate(size));
          p[0] = p[size - 1] = static_cast<unsigned char>(t);
          mine.push_back({p, size});
        } else {
          std::swap(mine[random() % mine.size()], mine.back());
          auto [p, size] = mine.back();
          ASSERT_EQ(p[0], t);
          ASSERT_EQ(p[size - 1], t);
          heap.free(p);
          mine.pop_back();
        }
      }
      for (auto [p, size] : mine) heap.free(p);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(heap.usage().blockBytes, 0u);
}

}  // namespace
}  // namespace multipy
