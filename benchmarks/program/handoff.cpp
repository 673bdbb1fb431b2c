#include "handoff.h"

#include <ATen/ops/rand.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "futex.h"
#include "measure.h"

namespace multipy::benchmark {
namespace {

class Places {
 public:
  explicit Places(int n) {
    for (int i = 0; i < n; ++i) free_.push_back(i);
  }

  int take() {
    for (;;) {
      std::uint32_t returned;
      {
        std::lock_guard lock(mutex_);
        if (!free_.empty()) {
          const int place = free_.back();
          free_.pop_back();
          return place;
        }
        ++waiting_;
        returned = returned_.load();
      }
      futexWait(returned_, returned, kForEver);
      std::lock_guard lock(mutex_);
      --waiting_;
    }
  }

  void giveBack(int place) {
    bool wake;
    {
      std::lock_guard lock(mutex_);
      free_.push_back(place);
      ++returned_;
      wake = waiting_ > 0;
    }
    if (wake) futexWake(returned_, 1);
  }

 private:
  std::mutex mutex_;
  std::vector<int> free_;
  int waiting_ = 0;
  std::atomic<std::uint32_t> returned_{0};
};

}  // namespace

double handoff(int threads, int places, double seconds) {
  Places all(places);
  return nanosecondsEach(threads, seconds, [&] {
    for (int i = 0; i < 1000; ++i) all.giveBack(all.take());
  });
}

double detach(double seconds) {
  const at::Tensor x = at::rand({1, 64});
  return nanosecondsEach(seconds, [&] {
    for (int i = 0; i < 1000; ++i) x.detach();
  });
}

}  // namespace multipy::benchmark
