#include "process/string_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace multipy::process {
namespace {

// Those of `import torch` take 3 MB. The texts of an interpreter that has ended stay where
// CPython left objects behind; programs that make up new ones for ever end here.
constexpr std::size_t kCapacity = std::size_t{64} << 20;

}  // namespace

StringPool& StringPool::instance() {
  // Never destroyed: interpreters may end while static destructors run.
  static auto* const one = new StringPool(kCapacity);
  return *one;
}

StringPool::~StringPool() {
  for (Shard& shard : shards_)
    for (Text* const text : shard.texts) std::free(text);
}

const char* StringPool::share(std::string_view text) {
  const Key key{text, std::hash<std::string_view>()(text)};
  Shard& shard = shards_[key.hash >> 32 & (kShards - 1)];  // the sets go by the lower bits
  if (!shard.mutex.try_lock()) return nullptr;
  const base::Lock lock(shard.mutex, std::adopt_lock);
  if (const auto known = shard.texts.find(key); known != shard.texts.end()) {
    (*known)->uses.fetch_add(1, std::memory_order_relaxed);
    return (*known)->bytes();
  }
  if (shard.texts.size() >= shard.sweepAt || shard.bytes + text.size() > capacityOfShard_)
    sweep(shard);
  if (shard.bytes + text.size() > capacityOfShard_) return nullptr;
  void* const memory = std::malloc(sizeof(Text) + text.size() + 1);
  if (!memory) return nullptr;
  auto* const made = ::new (memory) Text{{1}, text.size(), key.hash};
  std::memcpy(made->bytes(), text.data(), text.size());
  made->bytes()[text.size()] = 0;
  try {
    shard.texts.insert(made);
  } catch (const std::bad_alloc&) {
    std::free(memory);
    return nullptr;
  }
  shard.bytes += text.size();
  return made->bytes();
}

// What lies before a block of malloc() is malloc's, which AddressSanitizer guards.
__attribute__((no_sanitize("address"))) bool StringPool::release(const char* shared) {
  if (reinterpret_cast<const uint64_t*>(shared)[-1] != kMark) return false;
  // The thread that sweeps frees it: here a lock would be needed, which the child of a fork may
  // find taken for ever.
  auto* const text = reinterpret_cast<Text*>(const_cast<char*>(shared)) - 1;
  text->uses.fetch_sub(1, std::memory_order_release);
  return true;
}

// Only share() makes a use of none, and it holds the lock.
void StringPool::sweep(Shard& shard) {
  for (auto next = shard.texts.begin(); next != shard.texts.end();) {
    Text* const text = *next;
    if (text->uses.load(std::memory_order_acquire) != 0) {
      ++next;
      continue;
    }
    shard.bytes -= text->size;
    next = shard.texts.erase(next);                   // first: the set asks for its hash
    static_cast<volatile uint64_t&>(text->mark) = 0;  // one release too many is no silent one
    std::free(text);
  }
  shard.sweepAt = std::max<std::size_t>(64, shard.texts.size() * 2);
}

StringPool::Counts StringPool::counts() const {
  Counts counts{};
  for (const Shard& shard : shards_) {
    const base::Lock lock(shard.mutex);
    counts.texts += shard.texts.size();
    counts.bytes += shard.bytes;
    for (const Text* const text : shard.texts)
      counts.uses += text->uses.load(std::memory_order_relaxed);
  }
  return counts;
}

}  // namespace multipy::process
