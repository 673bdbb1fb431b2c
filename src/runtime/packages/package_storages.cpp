#include "runtime/packages/package_storages.h"

#include <mutex>
#include <new>

#include "base/fork_mutex.h"

namespace multipy::runtime {
namespace {

// One for all tables: it is held for a look only, and mutexes of this kind are never destroyed.
base::ForkMutex& mutex() {
  static auto* const one = new base::ForkMutex;
  return *one;
}

}  // namespace

at::Tensor PackageStorages::find(const std::string& name) const noexcept {
  const std::lock_guard lock(mutex());
  const auto found = storages_.find(name);
  return found == storages_.end() ? at::Tensor() : found->second;
}

at::Tensor PackageStorages::keep(const std::string& name, const at::Tensor& bytes) noexcept try {
  const std::lock_guard lock(mutex());
  return storages_.emplace(name, bytes).first->second;
} catch (const std::bad_alloc&) {
  return {};
}

bool PackageStorages::list(const std::string& prefix,
                           std::vector<std::string>* names) const noexcept try {
  const std::lock_guard lock(mutex());
  for (auto each = storages_.lower_bound(prefix);
       each != storages_.end() && each->first.starts_with(prefix); ++each)
    names->push_back(each->first);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace multipy::runtime
