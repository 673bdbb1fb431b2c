// Threads that start at the same moment, and waiting for something to come true.
#pragma once

#include <chrono>
#include <exception>
#include <latch>
#include <thread>
#include <vector>

namespace multipy::stress {

/// Runs work(0) ... work(n - 1), each on a thread of its own, and waits for all;
/// then throws the first exception that any of them threw.
template <typename Work>
void together(int n, const Work& work) {
  std::latch start(n);
  std::vector<std::exception_ptr> errors(n);
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
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

/// Is `condition` true now or within ten seconds? For what other threads finish
/// in their own time, such as drops that were handed to a housekeeping thread.
template <typename Condition>
bool soon(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace multipy::stress
