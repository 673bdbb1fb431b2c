// Calls functions at their times, in a thread of its own.
//
// Threads: in() from any thread. The functions are called one after the other, without a lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

namespace multipy::soak::pool {

class Later {
 public:
  /// So much later. At its end those go uncalled that are not due.
  void in(std::chrono::microseconds time, std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    functions_.emplace(Clock::now() + time, std::move(function));
    changed_.notify_one();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void run(const std::stop_token& end) {
    std::unique_lock lock(mutex_);
    while (!end.stop_requested()) {
      if (functions_.empty()) {
        changed_.wait(lock, end, [&] { return !functions_.empty(); });
        continue;
      }
      const auto first = functions_.begin();
      if (const auto when = first->first; when > Clock::now()) {
        changed_.wait_until(lock, end, when, [&] {
          return !functions_.empty() && functions_.begin()->first < when;
        });
        continue;
      }
      std::function<void()> function = std::move(first->second);
      functions_.erase(first);
      lock.unlock();
      function();
      function = nullptr;  // what it holds goes now, too
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::multimap<Clock::time_point, std::function<void()>> functions_;      // guarded by mutex_
  std::jthread thread_{[this](const std::stop_token& end) { run(end); }};  // last: ends first
};

}  // namespace multipy::soak::pool
