// What changes in the pool while it is called: interpreters are replaced, the model becomes another
// version, the pool grows and shrinks.
//
// Threads: one object a thread but for `stop`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>

#include "../random.h"
#include "../watchdog.h"
#include "pool.h"

namespace multipy::soak::pool {

/// How often each change was made, and how long it took.
class ChangeTimes {
 public:
  void add(const std::string& change, std::chrono::duration<double> took);
  std::string table() const;

 private:
  struct Row {
    long done = 0;
    double total = 0, longest = 0;  // seconds
  };
  mutable std::mutex mutex_;
  std::map<std::string, Row> rows_;  // guarded by mutex_
};

/// Where a thread that changes something is watched, and its times are counted.
struct ChangeContext {
  Pool& pool;
  ChangeTimes& times;
  Watchdog& watchdog;
  int number;  // the thread's, for the watchdog
  std::uint64_t seed;

  /// Does it, and notes what it throws unless it is a `Expected`.
  template <class Expected = void, class Work>
  void make(const std::string& change, const Work& work) const;
};

/// Until a stop is requested. Each of these by a thread of its own.
void replaceInterpreters(const ChangeContext& context, std::chrono::seconds every,
                         const std::stop_token& stop);
void switchVersions(const ChangeContext& context, std::chrono::seconds every,
                    const std::stop_token& stop);

/// Sizes at random from a quarter of all to all, and every third time all for a while: then
/// `isFull`, and memory can be compared.
void resizePool(const ChangeContext& context, std::size_t all, std::atomic<bool>& isFull,
                const std::stop_token& stop);

}  // namespace multipy::soak::pool
