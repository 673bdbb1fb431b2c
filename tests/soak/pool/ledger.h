// The book of all calls: each has an id, begins at most once, and has one outcome.
//
// A call is opened before it is made and closed with its outcome. In between Python code reports
// that it begins and that it ends (reports.h). What contradicts that is a fault: a call that begins
// twice, or after its outcome, or although it was refused; one that has two outcomes, or a value
// without having ended. A call that is not in here any more is over, so the book holds no more than
// the calls under way.
//
// Threads: every member from any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "faults.h"

namespace multipy::soak::pool {

using CallId = std::int64_t;

/// What a call can come to.
enum class End {
  Value,
  Raised,  // the Python exception that it was to raise
  DeadlineRunning,
  CancelledRunning,
  DeadlineInLine,
  CancelledInLine,
  QueueFull,
};
inline constexpr std::size_t kEnds = 7;
const char* nameOf(End end) noexcept;

/// Who makes a call: what the pool counts, or code in a session, which it does not.
enum class Maker { Pool, Session };

class Ledger {
 public:
  explicit Ledger(Faults& faults) : faults_(faults) {}

  /// A call that is about to be made. `what` is for messages, and stays.
  CallId open(const char* what, Maker maker = Maker::Pool);
  /// By the call's own Python code.
  void begun(CallId id);
  void ended(CallId id);
  void close(CallId id, End end);
  /// The program will not hear of its outcome.
  void forget(CallId id);

  using Ends = std::array<long, kEnds>;
  struct Counts {
    long opened = 0, forgotten = 0;  // of the pool's; the forgotten ones have no outcome below
    Ends pool{}, session{};          // outcomes
  };
  Counts counts() const;
  long outcomes() const;  // of all
  /// Calls without an outcome, but for the forgotten ones.
  long open() const noexcept { return open_; }

  struct Oldest {
    CallId id = 0;
    const char* what = "";
    double seconds = 0;
  };
  /// The call that has been open for longest. Drops what was forgotten long ago.
  std::optional<Oldest> oldest();

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    const char* what = "";
    Maker maker = Maker::Pool;
    Clock::time_point since;
    int begun = 0, ended = 0;
    bool forgotten = false;
  };
  struct alignas(64) Shard {
    std::mutex mutex;
    std::unordered_map<CallId, Entry> entries;  // guarded by mutex
  };
  static constexpr std::size_t kShards = 64;

  Shard& shardOf(CallId id) { return shards_[static_cast<std::size_t>(id) % kShards]; }
  void check(CallId id, const Entry& entry, End end);

  Faults& faults_;
  std::atomic<CallId> lastId_ = 0;
  std::atomic<long> open_ = 0, opened_ = 0, forgotten_ = 0;
  std::array<std::array<std::atomic<long>, kEnds>, 2> ends_{};  // by maker
  std::array<Shard, kShards> shards_;
};

}  // namespace multipy::soak::pool
