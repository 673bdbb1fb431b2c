#include "measure.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace multipy::benchmark {

void together(int n, const std::function<void(int)>& work) {
  std::vector<std::exception_ptr> errors(n);
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      // What is measured is many calls side by side: no teams of threads below
      // them, and no gradients. Both are properties of the thread.
      at::set_num_threads(1);
      at::NoGradGuard noGradients;
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

double nanosecondsEach(double seconds, const std::function<void()>& thousand) {
  return nanosecondsEach(1, seconds, thousand);
}

double nanosecondsEach(int threads, double seconds, const std::function<void()>& thousand) {
  together(1, [&](int) { thousand(); });  // warm
  std::atomic<long> done = 0;
  const Stopwatch stopwatch;
  together(threads, [&](int) {
    do {
      thousand();
      done += 1000;
    } while (stopwatch.seconds() < seconds);
  });
  return stopwatch.seconds() * 1e9 / static_cast<double>(done);
}

}  // namespace multipy::benchmark
