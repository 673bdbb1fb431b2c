// Timing loops.
#pragma once

#include <chrono>
#include <functional>

namespace multipy::benchmark {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// One call: the thread's number and how many calls it made before.
using Call = std::function<void(int thread, long number)>;

/// Calls per second of `threads` threads together that call for `seconds`.
/// Each has made some calls, untimed, before the clock starts. An exception of
/// a call ends the measurement and is thrown here.
double throughput(int threads, double seconds, const Call& call);

/// Runs `work(0)` ... `work(n - 1)` at once, each on its own thread.
void together(int n, const std::function<void(int)>& work);

}  // namespace multipy::benchmark
