// The calls that are under way in each interpreter of a manager: for figures, and to be
// interrupted.
//
// A call is written down by its thread once it has the interpreter's GIL, and crossed out before it
// gives that up. So with the GIL of a place's interpreter in hand what is found under way there
// stays so, and its thread exists. Without it, what is read may be over by then.
//
// A call that has an interpreter for itself uses a record of the place, and writes to a cache line
// that is its own meanwhile. One that shares an interpreter has its record on its stack, in a list.
//
// Threads: CallRecord by the call's own thread, CallRecords by any; none waits but for the list of
// a place, for a moment.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "process/wake_signal.h"

namespace multipy::runtime {

/// A call among all of its manager's: no other one has had the same number. Zero: none.
using CallId = std::uint64_t;

/// Why a call is being ended.
enum class EndReason : std::uint8_t { None, Deadline, Stopped, ByHand };

/// What is known of a call under way.
struct CallUnderWay {
  CallId id = 0;
  const std::string* model = nullptr;  // never freed
  std::chrono::nanoseconds begun{};    // of the monotonic clock, exact to some milliseconds
  void* threadState = nullptr;         // its PyThreadState
  pthread_t thread{};
  const process::WakeableThread* wakeable = nullptr;  // while it is under way
  EndReason interrupted = EndReason::None;            // why it has been interrupted before
  bool withThreads = false;                           // CallOptions::interruptThreads
};

class CallRecords {
 public:
  explicit CallRecords(std::size_t places) : places_(std::make_unique<Place[]>(places)) {}

  /// The calls under way in a place, the one that has it for itself first.
  std::vector<CallUnderWay> underWay(int place) const;
  /// Of all calls under way in the first `places`, but for one, the one that began first.
  std::optional<CallUnderWay> longest(std::size_t places, CallId without = 0) const;

  /// Tells the call's own thread that it has been interrupted, and why, if it is under way. With
  /// the GIL of the interpreter that it is in.
  void markInterrupted(CallId id, EndReason reason);
  /// What is known of a call that is under way.
  std::optional<CallUnderWay> find(CallId id) const;
  bool isUnderWay(CallId id) const { return find(id).has_value(); }

  /// How many calls have been made in a place (CallRecord::countAsMade()).
  std::uint64_t made(int place) const noexcept;
  /// The place that a call is, or was, in.
  static int placeOf(CallId id) noexcept { return static_cast<int>(id >> kPlaceShift); }

 private:
  friend class CallRecord;

  // Ids: the place in the highest bits, whether the call shares it, and a number.
  static constexpr int kPlaceShift = 54;
  static constexpr CallId kShared = CallId{1} << 53;

  struct Record {
    std::atomic<CallId> id{0};
    std::atomic<const std::string*> model{nullptr};
    std::atomic<std::int64_t> begun{0};
    std::atomic<void*> threadState{nullptr};
    std::atomic<pthread_t> thread{};
    std::atomic<const process::WakeableThread*> wakeable{nullptr};
    std::atomic<EndReason> interrupted{EndReason::None};
    std::atomic<bool> withThreads{false};
    std::atomic<std::uint32_t> notMade{0};  // of those alone: calls that were not made after all
  };
  struct alignas(64) Place {
    Record alone;
    std::atomic<std::uint64_t> made{0};  // of those alone
    alignas(64) mutable base::Mutex mutex;
    std::vector<Record*> shared MULTIPY_GUARDED_BY(mutex);
    std::atomic<std::uint64_t> sharedNumber{0}, sharedMade{0};
  };

  static std::optional<CallUnderWay> read(const Record& record) noexcept;
  /// Calls `use` with the record of the call, if it is under way; true then.
  template <class Use>
  bool withRecord(CallId id, const Use& use) const;

  const std::unique_ptr<Place[]> places_;
};

/// One call under way, with the GIL from begin to end.
class CallRecord {
 public:
  /// `alone`: no other call has the place for itself. `model` is never freed.
  CallRecord(CallRecords& records, int place, bool alone, const std::string* model,
             void* threadState) noexcept;
  ~CallRecord();
  CallRecord(const CallRecord&) = delete;
  CallRecord& operator=(const CallRecord&) = delete;

  /// It is one of those that were made. Others need not begin any more, or begin elsewhere. Once.
  void countAsMade() noexcept;
  CallId id() const noexcept { return record_->id.load(std::memory_order_relaxed); }
  /// What interrupts it is to interrupt the threads as well that it has started.
  void markWithThreads() const noexcept {
    record_->withThreads.store(true, std::memory_order_relaxed);
  }
  /// Whether, and why, it has been interrupted.
  EndReason interrupted() const noexcept {
    return record_->interrupted.load(std::memory_order_relaxed);
  }

 private:
  const process::WakeableThread thread_;
  CallRecords::Place& place_;
  CallRecords::Record own_;      // if it shares the place
  CallRecords::Record* record_;  // own_, or the place's
  bool isMade_ = false;
};

/// A name that is kept for ever: as many as there are different ones.
const std::string* keptName(const std::string& name);

/// Now, of the clock that CallUnderWay::begun is of.
std::chrono::nanoseconds coarseNow() noexcept;

}  // namespace multipy::runtime
