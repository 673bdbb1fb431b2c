// The copy cache in a directory. See disk_copies.cpp for its layout and for what
// it survives.
//
// Threads: all members from any thread; any number of processes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "loader/cache_trimming.h"
#include "loader/copies_in_use.h"
#include "loader/copy_cache.h"
#include "loader/memory_copies.h"

namespace multipy::loader {

class DiskCopies final : public CopyCache {
 public:
  /// Throws CacheError where `directory` (absolute) cannot be used.
  explicit DiskCopies(const std::filesystem::path& directory);

  std::shared_ptr<CachedCopy> get(const std::string& key, const std::string& fileName,
                                  const std::function<std::vector<std::byte>()>& make) override;
  std::filesystem::path directory() const override { return directory_; }
  std::string whyInMemory() const override;

 private:
  void markInUse(int cache, const std::string& digest);

  const std::filesystem::path directory_;
  MemoryCopies memory_;
  CacheTrimming trimming_;
  mutable base::Mutex mutex_;
  CopiesInUse inUse_ MULTIPY_GUARDED_BY(mutex_);
  std::string why_ MULTIPY_GUARDED_BY(mutex_);  // the last reason for a memory file
};

}  // namespace multipy::loader
