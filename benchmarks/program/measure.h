// What every measurement needs: a clock, threads that begin together, a timed loop.
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

/// Runs `work(0)` ... `work(n - 1)` at once, each on its own thread. The first
/// exception of a thread is thrown here once all have ended.
void together(int n, const std::function<void(int)>& work);

/// Nanoseconds of one piece of work, over as many as fit into `seconds`, on a thread of
/// its own. `thousand` does a thousand of them: the clock is asked that often.
double nanosecondsEach(double seconds, const std::function<void()>& thousand);

/// The same with `threads` threads side by side: elapsed nanoseconds over the pieces
/// of work of all of them together.
double nanosecondsEach(int threads, double seconds, const std::function<void()>& thousand);

}  // namespace multipy::benchmark
