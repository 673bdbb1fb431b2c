// Which act a thread does next: by weight, and not more at once than an act allows.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#include "acts.h"

namespace multipy::soak {

class ActChoice {
 public:
  explicit ActChoice(const Acts& acts)
      : acts_(acts), inUse_(std::make_unique<std::atomic<int>[]>(acts.size())) {
    for (const Act& act : acts) total_ += act.weight;
  }

  /// The act that this thread does until it calls ended().
  std::size_t begin(Random& random) {
    for (;;) {
      const std::size_t act = byWeight(random);
      if (inUse_[act].fetch_add(1) < acts_[act].atOnce || acts_[act].atOnce == 0) return act;
      ended(act);
      std::this_thread::yield();
    }
  }
  void ended(std::size_t act) { inUse_[act].fetch_sub(1); }

 private:
  std::size_t byWeight(Random& random) const {
    std::int64_t left = random.number(0, total_ - 1);
    for (std::size_t act = 0;; ++act)
      if ((left -= acts_[act].weight) < 0) return act;
  }

  const Acts& acts_;
  std::int64_t total_ = 0;
  std::unique_ptr<std::atomic<int>[]> inUse_;  // by act
};

}  // namespace multipy::soak
