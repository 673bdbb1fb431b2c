// The memory of one interpreter: every byte that CPython allocates comes from
// one reserved range of address space, so that the owner of a Python object can
// be told from its address, and so that all of it can be given back at the end.
//
// Two allocators share the range and grow towards each other:
//
//   begin ──► blocks (malloc-like)   ...unused, PROT_NONE...   arenas ◄── end
//
// Blocks serve PyMem_RawMalloc and whatever pymalloc does not take (more than
// 512 bytes): two-level segregated fit (Masmano et al., "TLSF: a New Dynamic
// Memory Allocator for Real-Time Systems", ECRTS 2004) with boundary tags,
// 8 bytes of overhead per block, constant time, neighbours coalesced.
// Arenas are pymalloc's own 1 MiB pieces.
//
// What is freed stays backed at first and is used again: giving each piece back with
// madvise() stalls all threads of the process (TLB shootdown), and CPython frees and takes
// large pieces all the time. But what an interpreter has needed once in its life, it need not
// keep: every ten seconds in which large pieces are freed, those that are free go back to the
// kernel.
//
// Threads: all members from any thread (one mutex); no GIL needed. For fork,
// call lockForFork() before and unlockAfterFork() after it in parent and child.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/mutex.h"

namespace multipy {

class Heap {
 public:
  Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// Takes over [begin, begin + size), reserved with PROT_NONE, page-aligned.
  void adopt(void* begin, std::size_t size);

  /// As malloc and friends (16-byte aligned), but a request of 0 bytes gives a
  /// block of its own, as PyMem_RawMalloc must. Null when the range is full or
  /// the kernel has no memory.
  void* allocate(std::size_t size);
  void* allocateZeroed(std::size_t count, std::size_t size);
  void* reallocate(void* block, std::size_t size);
  void free(void* block);

  void* allocateArena(std::size_t size);
  void freeArena(void* arena, std::size_t size);

  /// Gives pages of large free pieces back to the kernel. (free() and freeArena() do it now and
  /// then.)
  void giveBackFree();

  /// Gives all pages back to the kernel; the range is PROT_NONE again. Nothing
  /// allocated here may be touched afterwards; free() of it is ignored.
  void releaseAll();

  void lockForFork() MULTIPY_ACQUIRE(mutex_) { mutex_.lock(); }
  void unlockAfterFork(bool inChild) MULTIPY_RELEASE(mutex_) MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
    if (inChild)
      new (&mutex_) base::Mutex;
    else
      mutex_.unlock();
  }

  struct Usage {
    std::size_t blockBytes;  // in allocated blocks, headers included
    std::size_t blockSpace;  // mapped for blocks
    std::size_t arenaSpace;  // mapped for arenas
  };
  Usage usage();

 private:
  struct Block;
  static constexpr int kSecondLevelBits = 4;
  static constexpr int kSecondLevels = 1 << kSecondLevelBits;
  static constexpr int kFirstLevels = 36;  // up to 32 GiB and beyond

  struct Level {
    int first;
    int second;
  };
  static Level levelOf(std::size_t size);
  static Level levelThatFits(std::size_t size);

  Block* find(std::size_t size) MULTIPY_REQUIRES(mutex_);
  void insert(Block* block) MULTIPY_REQUIRES(mutex_);
  void remove(Block* block) MULTIPY_REQUIRES(mutex_);
  bool grow(std::size_t atLeast) MULTIPY_REQUIRES(mutex_);
  void* use(Block* block, std::size_t size) MULTIPY_REQUIRES(mutex_);
  void trim(Block* block, std::size_t size) MULTIPY_REQUIRES(mutex_);
  Block* release(Block* block) MULTIPY_REQUIRES(mutex_);
  void giveBackPages(Block* block);
  void giveBackAllFree() MULTIPY_REQUIRES(mutex_);
  void giveBackFreeNowAndThen() MULTIPY_REQUIRES(mutex_);
  static std::size_t blockSizeFor(std::size_t request);

  base::Mutex mutex_;
  char* begin_ MULTIPY_GUARDED_BY(mutex_) = nullptr;
  char* end_ MULTIPY_GUARDED_BY(mutex_) = nullptr;
  char* blocksEnd_ MULTIPY_GUARDED_BY(mutex_) = nullptr;    // first byte not mapped for blocks
  char* arenasBegin_ MULTIPY_GUARDED_BY(mutex_) = nullptr;  // first byte mapped for arenas
  std::size_t used_ MULTIPY_GUARDED_BY(mutex_) = 0;
  // When pages of free pieces were last given back, in seconds.
  std::int64_t givenBackAt_ MULTIPY_GUARDED_BY(mutex_) = 0;
  uint64_t firstLevelMap_ MULTIPY_GUARDED_BY(mutex_) = 0;
  std::array<uint32_t, kFirstLevels> secondLevelMap_ MULTIPY_GUARDED_BY(mutex_){};
  std::array<std::array<Block*, kSecondLevels>, kFirstLevels> free_{};
  // Lies in the arena itself: to free one takes no memory.
  struct FreeArena {
    FreeArena* next;
    std::size_t size;
  };
  FreeArena* freeArenas_ = nullptr;  // the last one freed comes first
};

}  // namespace multipy
