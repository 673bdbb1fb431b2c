#include "interpreter/cpython/heap.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/mutex.h"

namespace multipy {

// A block is its header and what follows. `size` counts the whole block and is
// a multiple of 16; its two low bits are flags. The header of a block lies in
// the 8 bytes before its 16-byte aligned payload, and a free block keeps its
// own size in its last 8 bytes, where the next block finds it to coalesce.
// The last block before blocksEnd_ is a used one of kHeader bytes (a sentinel),
// so that every block has a neighbour.
struct Heap::Block {
  static constexpr std::size_t kFree = 1;
  static constexpr std::size_t kPreviousFree = 2;
  static constexpr std::size_t kFlags = kFree | kPreviousFree;

  std::size_t tagged;  // size | flags
  Block* next;         // these two only while free
  Block* previous;

  std::size_t size() const { return tagged & ~kFlags; }
  void setSize(std::size_t size) { tagged = size | (tagged & kFlags); }
  bool isFree() const { return tagged & kFree; }
  bool previousIsFree() const { return tagged & kPreviousFree; }
  void setFlag(std::size_t flag, bool on) { tagged = on ? tagged | flag : tagged & ~flag; }

  void* payload() { return reinterpret_cast<char*>(this) + sizeof(std::size_t); }
  static Block* of(void* payload) {
    return reinterpret_cast<Block*>(static_cast<char*>(payload) - sizeof(std::size_t));
  }
  Block* after() { return reinterpret_cast<Block*>(reinterpret_cast<char*>(this) + size()); }
  std::size_t& footer() {
    return *reinterpret_cast<std::size_t*>(reinterpret_cast<char*>(this) + size() -
                                           sizeof(std::size_t));
  }
  Block* before() {
    const std::size_t size = *(reinterpret_cast<std::size_t*>(this) - 1);
    return reinterpret_cast<Block*>(reinterpret_cast<char*>(this) - size);
  }
  void markFree() {
    setFlag(kFree, true);
    footer() = size();
    after()->setFlag(kPreviousFree, true);
  }
  void markUsed() {
    setFlag(kFree, false);
    after()->setFlag(kPreviousFree, false);
  }
};

namespace {
constexpr std::size_t kGranule = 16;
constexpr std::size_t kHeader = sizeof(std::size_t);
constexpr std::size_t kMinimumBlock = 32;  // header, two links, footer
constexpr std::size_t kSmallest = 256;     // below: one list per granule
constexpr std::size_t kGrowth = std::size_t{1} << 20;
constexpr std::size_t kGiveBack = std::size_t{4} << 20;   // so large a block: at once
constexpr std::size_t kLargeFree = std::size_t{1} << 20;  // now and then
constexpr int kArenasKept = 4;                            // of the free ones
constexpr std::int64_t kSecondsBetween = 10;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kLargestRequest = std::size_t{1} << 46;

std::size_t roundUp(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}
}  // namespace

Heap::Level Heap::levelOf(std::size_t size) {
  if (size < kSmallest) return {0, static_cast<int>(size / kGranule)};
  const int log = static_cast<int>(std::bit_width(size)) - 1;
  return {log - static_cast<int>(std::bit_width(kSmallest)) + 2,
          static_cast<int>(size >> (log - kSecondLevelBits)) & (kSecondLevels - 1)};
}

// The first list whose blocks are all large enough.
Heap::Level Heap::levelThatFits(std::size_t size) {
  if (size >= kSmallest)
    size += (std::size_t{1} << (std::bit_width(size) - 1 - kSecondLevelBits)) - 1;
  return levelOf(size);
}

std::size_t Heap::blockSizeFor(std::size_t request) {
  return std::max(kMinimumBlock, roundUp(request + kHeader, kGranule));
}

void Heap::adopt(void* begin, std::size_t size) {
  const base::Lock lock(mutex_);
  begin_ = static_cast<char*>(begin);
  end_ = begin_ + size;
  blocksEnd_ = begin_;
  arenasBegin_ = end_;
}

void Heap::insert(Block* block) {
  const auto [first, second] = levelOf(block->size());
  Block*& head = free_[first][second];
  block->previous = nullptr;
  block->next = head;
  if (head) head->previous = block;
  head = block;
  firstLevelMap_ |= uint64_t{1} << first;
  secondLevelMap_[first] |= 1u << second;
}

void Heap::remove(Block* block) {
  const auto [first, second] = levelOf(block->size());
  if (block->next) block->next->previous = block->previous;
  if (block->previous) {
    block->previous->next = block->next;
    return;
  }
  free_[first][second] = block->next;
  if (block->next) return;
  secondLevelMap_[first] &= ~(1u << second);
  if (!secondLevelMap_[first]) firstLevelMap_ &= ~(uint64_t{1} << first);
}

Heap::Block* Heap::find(std::size_t size) {
  auto [first, second] = levelThatFits(size);
  if (first >= kFirstLevels) return nullptr;
  uint32_t seconds = secondLevelMap_[first] & (~0u << second);
  if (!seconds) {
    const uint64_t firsts = first + 1 < 64 ? firstLevelMap_ & (~uint64_t{0} << (first + 1)) : 0;
    if (!firsts) return nullptr;
    first = std::countr_zero(firsts);
    seconds = secondLevelMap_[first];
  }
  return free_[first][std::countr_zero(seconds)];
}

// Maps more pages behind the blocks and makes them one free block.
bool Heap::grow(std::size_t atLeast) {
  const bool empty = blocksEnd_ == begin_;
  const std::size_t more = roundUp(atLeast + kGranule, kGrowth);
  if (!begin_ || more > static_cast<std::size_t>(arenasBegin_ - blocksEnd_)) return false;
  if (mprotect(blocksEnd_, more, PROT_READ | PROT_WRITE) != 0) return false;
  // Payloads are 16-byte aligned, so headers lie at 8 modulo 16.
  Block* block = reinterpret_cast<Block*>(empty ? begin_ + kHeader : blocksEnd_ - kHeader);
  if (empty) block->tagged = 0;
  blocksEnd_ += more;
  Block* sentinel = reinterpret_cast<Block*>(blocksEnd_ - kHeader);
  block->setSize(reinterpret_cast<char*>(sentinel) - reinterpret_cast<char*>(block));
  sentinel->tagged = kHeader * 2;  // used; size only to be a multiple of the granule
  used_ += block->size();
  release(block);
  return true;
}

// Cuts the tail beyond `size` off a used block, if it can be a block itself.
void Heap::trim(Block* block, std::size_t size) {
  if (block->size() < size + kMinimumBlock) return;
  const std::size_t rest = block->size() - size;
  block->setSize(size);
  Block* tail = block->after();
  tail->tagged = rest;
  release(tail);
}

void* Heap::use(Block* block, std::size_t size) {
  remove(block);
  block->markUsed();
  used_ += block->size();
  trim(block, size);
  return block->payload();
}

// Makes a used block free and joins it with free neighbours, to what is returned.
Heap::Block* Heap::release(Block* block) {
  used_ -= block->size();
  Block* after = block->after();
  if (after->isFree()) {
    remove(after);
    block->setSize(block->size() + after->size());
  }
  if (block->previousIsFree()) {
    Block* before = block->before();
    remove(before);
    before->setSize(before->size() + block->size());
    block = before;
  }
  block->markFree();
  insert(block);
  return block;
}

// The pages inside a large free block, its links and footer excepted.
void Heap::giveBackPages(Block* block) {
  auto first = reinterpret_cast<uintptr_t>(block) + sizeof(Block);
  auto last = reinterpret_cast<uintptr_t>(block) + block->size() - kHeader;
  first = roundUp(first, kPage);
  last = last / kPage * kPage;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

void Heap::giveBackAllFree() {
  for (int first = levelOf(kLargeFree).first; first < kFirstLevels; ++first) {
    if (!(firstLevelMap_ & (uint64_t{1} << first))) continue;
    for (Block* head : free_[first])
      for (Block* block = head; block; block = block->next) giveBackPages(block);
  }
  int kept = 0;
  for (FreeArena* arena = freeArenas_; arena; arena = arena->next) {
    // (The first page has the link.)
    if (++kept > kArenasKept && arena->size > kPage)
      madvise(reinterpret_cast<char*>(arena) + kPage, arena->size - kPage, MADV_DONTNEED);
  }
}

void Heap::giveBackFreeNowAndThen() {
  timespec now{};
  if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0) return;
  if (now.tv_sec - givenBackAt_ < kSecondsBetween) return;
  givenBackAt_ = now.tv_sec;
  giveBackAllFree();
}

void Heap::giveBackFree() {
  const base::Lock lock(mutex_);
  giveBackAllFree();
}

void* Heap::allocate(std::size_t request) {
  if (request > kLargestRequest) return nullptr;
  const std::size_t size = blockSizeFor(request);
  const base::Lock lock(mutex_);
  Block* block = find(size);
  if (!block) {
    if (!grow(size * 17 / 16)) return nullptr;  // find() rounds up by at most 1/16
    block = find(size);
    if (!block) return nullptr;
  }
  return use(block, size);
}

void* Heap::allocateZeroed(std::size_t count, std::size_t size) {
  std::size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* block = allocate(bytes);
  if (block) std::memset(block, 0, bytes);
  return block;
}

void Heap::free(void* payload) {
  if (!payload) return;
  const base::Lock lock(mutex_);
  if (!begin_) return;  // after releaseAll(): static destructors of CPython's neighbours
  Block* block = Block::of(payload);
  const bool large = block->size() >= kGiveBack;
  if (large) giveBackPages(block);
  if (release(block)->size() >= kLargeFree) giveBackFreeNowAndThen();
}

void* Heap::reallocate(void* payload, std::size_t request) {
  if (!payload) return allocate(request);
  if (request > kLargestRequest) return nullptr;
  const std::size_t size = blockSizeFor(request);
  std::size_t old;
  {
    const base::Lock lock(mutex_);
    Block* block = Block::of(payload);
    old = block->size() - kHeader;
    Block* after = block->after();
    if (size > block->size() && after->isFree() && block->size() + after->size() >= size) {
      remove(after);
      used_ += after->size();
      block->setSize(block->size() + after->size());
      block->markUsed();
    }
    if (size <= block->size()) {
      trim(block, size);
      return payload;
    }
  }
  void* moved = allocate(request);
  if (!moved) return nullptr;
  std::memcpy(moved, payload, std::min(old, request));
  free(payload);
  return moved;
}

void* Heap::allocateArena(std::size_t size) {
  const base::Lock lock(mutex_);
  for (FreeArena** place = &freeArenas_; *place; place = &(*place)->next) {
    if ((*place)->size != size) continue;
    FreeArena* const arena = *place;
    *place = arena->next;
    return arena;
  }
  const std::size_t mapped = roundUp(size, kPage);
  if (!begin_ || mapped > static_cast<std::size_t>(arenasBegin_ - blocksEnd_)) return nullptr;
  char* arena = arenasBegin_ - mapped;
  if (mprotect(arena, mapped, PROT_READ | PROT_WRITE) != 0) return nullptr;
  arenasBegin_ = arena;
  return arena;
}

void Heap::freeArena(void* arena, std::size_t size) {
  const base::Lock lock(mutex_);
  if (!begin_) return;
  freeArenas_ = new (arena) FreeArena{freeArenas_, size};
  giveBackFreeNowAndThen();
}

void Heap::releaseAll() {
  const base::Lock lock(mutex_);
  const auto giveBack = [](char* from, char* to) {
    if (to == from) return;
    madvise(from, to - from, MADV_DONTNEED);
    mprotect(from, to - from, PROT_NONE);
  };
  giveBack(begin_, blocksEnd_);
  giveBack(arenasBegin_, end_);
  begin_ = nullptr;
  freeArenas_ = nullptr;
  firstLevelMap_ = 0;
  secondLevelMap_ = {};
  free_ = {};
  used_ = 0;
}

Heap::Usage Heap::usage() {
  const base::Lock lock(mutex_);
  if (!begin_) return {0, 0, 0};
  return {used_, static_cast<std::size_t>(blocksEnd_ - begin_),
          static_cast<std::size_t>(end_ - arenasBegin_)};
}

}  // namespace multipy
