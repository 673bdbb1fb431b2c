// Where threads leave things for others: a fixed number of places, so that what is kept
// does not grow.
//
// Threads: any. What is dropped is dropped by the caller, outside of the lock.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace multipy::soak {

template <typename T>
class Places {
 public:
  explicit Places(std::size_t count) : places_(count) {}

  /// Leaves `thing` at a place and gives what was there.
  std::optional<T> exchange(std::size_t place, std::optional<T> thing) {
    const std::lock_guard lock(mutex_);
    std::swap(places_[place % places_.size()], thing);
    return thing;
  }
  std::optional<T> take(std::size_t place) { return exchange(place, std::nullopt); }
  void clear() {
    for (std::size_t place = 0; place < places_.size(); ++place) take(place);
  }

 private:
  std::mutex mutex_;
  std::vector<std::optional<T>> places_;  // guarded by mutex_
};

}  // namespace multipy::soak
