#include "process/code_cache.h"

#include <utility>

namespace multipy::process {
namespace {

// Those of `import torch` take 1.5 MB, those of a large program some more.
constexpr std::size_t kCapacity = std::size_t{16} << 20;

}  // namespace

CodeCache& CodeCache::instance() {
  // Never destroyed: interpreters may end while static destructors run.
  static auto* const one = new CodeCache(kCapacity);
  return *one;
}

CodeCache::Shard& CodeCache::shardOf(std::string_view key) {
  // The upper bits: the maps go by the lower ones.
  return shards_[Hash()(key) >> 32 & (kShards - 1)];
}

bool CodeCache::find(std::string_view key, std::string& code) {
  Shard& shard = shardOf(key);
  if (!shard.mutex.try_lock()) return false;
  const base::Lock lock(shard.mutex, std::adopt_lock);
  if (const auto found = shard.young.codes.find(key); found != shard.young.codes.end()) {
    code = found->second;
  } else if (const auto older = shard.old.codes.find(key); older != shard.old.codes.end()) {
    code = older->second;
    auto node = shard.old.codes.extract(older);
    shard.old.bytes -= node.key().size() + node.mapped().size();
    insert(shard, std::move(node.key()), std::move(node.mapped()));
  } else {
    return false;
  }
  ++shard.found;
  return true;
}

void CodeCache::keep(std::string_view key, std::string_view code) {
  if (key.size() + code.size() > capacityOfGeneration_) return;
  Shard& shard = shardOf(key);
  if (!shard.mutex.try_lock()) return;
  const base::Lock lock(shard.mutex, std::adopt_lock);
  if (shard.young.codes.contains(key) || shard.old.codes.contains(key)) return;
  insert(shard, std::string(key), std::string(code));
}

void CodeCache::insert(Shard& shard, std::string key, std::string code) {
  const std::size_t bytes = key.size() + code.size();
  if (shard.young.bytes + bytes > capacityOfGeneration_) {
    shard.old = std::exchange(shard.young, {});
  }
  shard.young.codes.emplace(std::move(key), std::move(code));
  shard.young.bytes += bytes;
}

CodeCache::Counts CodeCache::counts() const {
  Counts counts{};
  for (const Shard& shard : shards_) {
    const base::Lock lock(shard.mutex);
    counts.texts += shard.young.codes.size() + shard.old.codes.size();
    counts.bytes += shard.young.bytes + shard.old.bytes;
    counts.found += shard.found;
  }
  return counts;
}

}  // namespace multipy::process
