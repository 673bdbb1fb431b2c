// Long constant texts of Python code, docstrings above all, once for all interpreters.
//
// Why: `import torch` brings 3 MB of them into each interpreter, where they lie untouched.
// CPython can have the text of a str elsewhere than in the object itself, as it has for
// instances of its subclasses (interpreter/cpython/string_pool.h).
//
// Bounded: what does not fit any more is not shared, and stays where it is.
//
// Threads: all members from any thread. share() never waits: where another thread is in the
// same shard, or was when this process was forked off, nothing is shared. release() takes no
// lock at all.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "base/mutex.h"

namespace multipy::process {

class StringPool {
 public:
  /// The process's.
  static StringPool& instance();

  /// At most `capacity` bytes of texts in all.
  explicit StringPool(std::size_t capacity) : capacityOfShard_(capacity / kShards) {}
  ~StringPool();
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  /// Where the bytes of `text` lie, a 0 behind them, until release() has been called as
  /// often as this. Null if they are not shared.
  const char* share(std::string_view text);

  /// Gives back what share() gave. False, and nothing done, for another block of malloc().
  static bool release(const char* shared);

  struct Counts {
    std::size_t texts, bytes;
    uint64_t uses;  // not released yet
  };
  /// Waits for a thread that is in a shard.
  Counts counts() const;

 private:
  static constexpr std::size_t kShards = 16;

  // Where malloc() keeps the size of a block, which is never this number.
  static constexpr uint64_t kMark = 0x7478657464657268;

  struct Text {
    std::atomic<uint64_t> uses;
    std::size_t size, hash;
    uint64_t mark = kMark;  // last: just before the bytes
    char* bytes() { return reinterpret_cast<char*>(this + 1); }
    std::string_view view() const { return {reinterpret_cast<const char*>(this + 1), size}; }
  };
  /// To look for one.
  struct Key {
    std::string_view text;
    std::size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Key& key) const { return key.hash; }
    std::size_t operator()(const Text* text) const { return text->hash; }
  };
  struct Equal {
    using is_transparent = void;
    static std::string_view view(const Key& key) { return key.text; }
    static std::string_view view(const Text* text) { return text->view(); }
    bool operator()(const auto& one, const auto& other) const { return view(one) == view(other); }
  };
  struct alignas(64) Shard {
    mutable base::Mutex mutex;
    std::unordered_set<Text*, Hash, Equal> texts MULTIPY_GUARDED_BY(mutex);
    std::size_t bytes MULTIPY_GUARDED_BY(mutex) = 0;
    std::size_t sweepAt MULTIPY_GUARDED_BY(mutex) = 64;  // texts
  };

  static void sweep(Shard& shard) MULTIPY_REQUIRES(shard.mutex);

  const std::size_t capacityOfShard_;
  std::array<Shard, kShards> shards_;
};

}  // namespace multipy::process
