#include "measure.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <atomic>
#include <barrier>
#include <exception>
#include <thread>
#include <vector>

namespace multipy::benchmark {
namespace {
constexpr int kWarmUpCalls = 3;
}

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

double throughput(int threads, double seconds, const Call& call) {
  // Arrived at twice: when all are warm, and when the clock has been started.
  std::barrier<> gate(threads + 1);
  std::atomic<bool> stop = false;
  std::atomic<long> calls = 0;
  double elapsed = 0;

  std::thread clock([&] {
    gate.arrive_and_wait();
    const Stopwatch stopwatch;
    gate.arrive_and_wait();
    while (!stop && stopwatch.seconds() < seconds)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop = true;
    elapsed = stopwatch.seconds();
  });
  std::exception_ptr error;
  try {
    together(threads, [&](int thread) {
      long number = 0;
      std::exception_ptr failure;
      try {
        while (number < kWarmUpCalls) call(thread, number++);
      } catch (...) {
        failure = std::current_exception();
        stop = true;
      }
      gate.arrive_and_wait();
      gate.arrive_and_wait();
      if (failure) std::rethrow_exception(failure);
      long done = 0;
      try {
        for (; !stop; ++done) call(thread, number++);
      } catch (...) {
        stop = true;
        throw;
      }
      calls += done;
    });
  } catch (...) {
    error = std::current_exception();
  }
  clock.join();
  if (error) std::rethrow_exception(error);
  return static_cast<double>(calls) / elapsed;
}

}  // namespace multipy::benchmark
