// The storages of one Package::loadPickle(): read by the interpreter that needs one
// first, and used by all that load the object.
//
// Holds the bytes for as long as it lives, which is as long as the ReplicatedObj: an
// interpreter that gives its object up and loads it again gets the same bytes. Each
// loadPickle() has a table of its own, since two loads of plain Python share nothing.
//
// Threads: every member from any thread, with or without a GIL.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "abi/interpreter_api.h"
#include "base/fork_mutex.h"

namespace multipy::runtime {

class PackageStorages final : public SharedStorages {
 public:
  at::Tensor find(const std::string& name) const noexcept override;
  at::Tensor keep(const std::string& name, const at::Tensor& bytes) noexcept override;
  bool list(const std::string& prefix, std::vector<std::string>* names) const noexcept override;

 private:
  // One for all tables: it is held for a look only, and mutexes of this kind are never destroyed.
  static base::ForkMutex mutex_;
  std::map<std::string, at::Tensor> storages_ MULTIPY_GUARDED_BY(mutex_);
};

}  // namespace multipy::runtime
