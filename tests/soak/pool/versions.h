// Which versions of the model may answer a call.
//
// A version is introduced before the pool is told of it, and retired when the pool has been told
// that it is over: a call that is made after that must not come to it. Versions are numbered on
// without end; the model that is loaded for one answers with the number of its pickle.
//
// Threads: every member from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <shared_mutex>

namespace multipy::soak::pool {

class Versions {
 public:
  static constexpr long kPickles = 8;  // as in make_packages.py
  using Moment = std::uint64_t;

  static long pickleOf(long version) noexcept { return version % kPickles; }

  Moment now() const noexcept { return moment_; }
  void introduce(long version) {
    const std::unique_lock lock(mutex_);
    retired_.emplace(version, UINT64_MAX);
  }
  void retire(long version) {
    const std::unique_lock lock(mutex_);
    retired_.at(version) = ++moment_;
  }
  /// Whether one with this pickle may answer a call that was made at `since`.
  bool mayAnswer(long pickle, Moment since) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [version, retired] : retired_)
      if (pickleOf(version) == pickle && retired > since) return true;
    return false;
  }

 private:
  std::atomic<Moment> moment_ = 0;  // changed with mutex_
  mutable std::shared_mutex mutex_;
  std::map<long, Moment> retired_;  // guarded by mutex_
};

}  // namespace multipy::soak::pool
