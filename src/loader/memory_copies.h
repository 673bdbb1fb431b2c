// Copies without a directory: sealed memory files (memfd_create), which dlopen
// reaches as /proc/self/fd/N. A sealed file cannot be changed, not even by us.
//
// Threads: all members from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "loader/copy_cache.h"

namespace multipy::loader {

class MemoryCopies {
 public:
  /// The copy for `key` if it is alive, else a new one holding what `make`
  /// gives. Throws CacheError if the system gives no memory file; `because`
  /// tells there why there is no file on disk.
  std::shared_ptr<CachedCopy> get(const std::string& key, const std::string& fileName,
                                  const std::function<std::vector<std::byte>()>& make,
                                  const std::string& because);

 private:
  base::Mutex mutex_;
  std::map<std::string, std::weak_ptr<CachedCopy>> alive_ MULTIPY_GUARDED_BY(mutex_);  // by key
};

}  // namespace multipy::loader
