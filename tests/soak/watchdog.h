// Ends the program if a thread makes no progress.
//
// Each thread says what it begins. If that takes longer than it may, all that threads are at
// is printed, with the stacks of all Python threads, and the process ends with status 1: a
// thread that is stuck cannot be joined.
//
// Threads: watch() by each thread with a number of its own.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace multipy::soak {

class Watchdog {
 public:
  Watchdog(int threads, std::chrono::seconds longest);

  /// While this lives, `thread` does `what`.
  class Watch {
   public:
    Watch(Watchdog& watchdog, int thread, std::string what);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog& watchdog_;
    const int thread_;
  };
  [[nodiscard]] Watch watch(int thread, std::string what) {
    return {*this, thread, std::move(what)};
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Slot {
    std::string what;  // empty: nothing
    Clock::time_point since;
  };
  void set(int thread, std::string what);
  bool isStuck();
  [[noreturn]] void end();
  void look(const std::stop_token& stop);

  const std::chrono::seconds longest_;
  std::mutex mutex_;
  std::vector<Slot> slots_;  // guarded by mutex_
  std::jthread looking_;     // last: ends first
};

}  // namespace multipy::soak
