#include "runtime/packages/package_storages.h"

#include <new>

namespace multipy::runtime {

constinit base::ForkMutex PackageStorages::mutex_;

at::Tensor PackageStorages::find(const std::string& name) const noexcept {
  const base::Lock lock(mutex_);
  const auto found = storages_.find(name);
  return found == storages_.end() ? at::Tensor() : found->second;
}

at::Tensor PackageStorages::keep(const std::string& name, const at::Tensor& bytes) noexcept try {
  const base::Lock lock(mutex_);
  return storages_.emplace(name, bytes).first->second;
} catch (const std::bad_alloc&) {
  return {};
}

bool PackageStorages::list(const std::string& prefix,
                           std::vector<std::string>* names) const noexcept try {
  const base::Lock lock(mutex_);
  for (auto each = storages_.lower_bound(prefix);
       each != storages_.end() && each->first.starts_with(prefix); ++each)
    names->push_back(each->first);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace multipy::runtime
