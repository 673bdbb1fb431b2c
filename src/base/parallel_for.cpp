#include "base/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace multipy::base {

void parallelFor(std::size_t n, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr first;  // guarded by mutex

  const auto worker = [&] {
    for (std::size_t i = next++; i < n; i = next++) {
      try {
        work(i);
      } catch (...) {
        next = n;
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
    }
  };

  // The work waits for locks and disks too: two threads at least.
  const std::size_t width = std::max(2u, std::thread::hardware_concurrency());
  const std::size_t wanted = std::max<std::size_t>(1, std::min(n, width)) - 1;
  std::vector<std::thread> helpers;
  try {
    helpers.reserve(wanted);  // so that a thread that runs has its place here
    while (helpers.size() < wanted) helpers.emplace_back(worker);
  } catch (const std::exception&) {
    // No more threads to be had, or no memory: those that there are do it all.
  }
  worker();
  for (std::thread& helper : helpers) helper.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace multipy::base
