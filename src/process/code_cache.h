// Code that an interpreter has compiled from a text, exec("...") above all, for the
// others: kept marshalled, found by the text and all that the compiler goes by.
//
// Why: a dataclass compiles the source of each of its methods, namedtuple() that of its
// __new__. `import torch` compiles 1,250 such texts, which is a twelfth of its time, and
// each interpreter would do it again.
//
// Bounded: a shard that is full forgets what has not been asked for since it was last so.
//
// Threads: all members from any thread. find() and keep() never wait: where another thread
// is in the same shard, or was when this process was forked off, nothing is found or kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"

namespace multipy::process {

class CodeCache {
 public:
  /// The process's.
  static CodeCache& instance();

  /// At most `capacity` bytes of keys and codes in all.
  explicit CodeCache(std::size_t capacity) : capacityOfGeneration_(capacity / kShards / 2) {}
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;

  bool find(std::string_view key, std::string& code);
  void keep(std::string_view key, std::string_view code);

  struct Counts {
    std::size_t texts, bytes;
    uint64_t found;  // how many times find() was true
  };
  /// Waits for a thread that is in a shard.
  Counts counts() const;

 private:
  static constexpr std::size_t kShards = 16;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>()(key);
    }
  };
  struct Generation {
    std::unordered_map<std::string, std::string, Hash, std::equal_to<>> codes;
    std::size_t bytes = 0;
  };
  struct alignas(64) Shard {
    mutable base::Mutex mutex;
    Generation young MULTIPY_GUARDED_BY(mutex);
    Generation old MULTIPY_GUARDED_BY(mutex);
    uint64_t found MULTIPY_GUARDED_BY(mutex) = 0;
  };

  Shard& shardOf(std::string_view key);
  void insert(Shard& shard, std::string key, std::string code) MULTIPY_REQUIRES(shard.mutex);

  const std::size_t capacityOfGeneration_;
  std::array<Shard, kShards> shards_;
};

}  // namespace multipy::process
