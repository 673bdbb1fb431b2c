// Keeps as many interpreters in a manager's pool as there shall be: starts them, replaces them, and
// shuts down those that have left.
//
//   start a new one in a free place ─► configure, warm up ─► open its place, close the old one's
//                                                             │
//            the old one's calls and sessions go on  ◄────────┘
//            it has none any more ─► take it out of its place ─► shut it down, on a thread of its
//            own
//
// A place is where the pool's users find an interpreter (InterpreterUsers); a seat is where the
// program does (allInstances()). One that is condemned is closed first and replaced then.
//
// What is to be done is asked for, or found by looking ten times a second where there are limits or
// an interpreter is leaving; a thread of the keeper's does it. It is started when there is
// something to do.
//
// Threads: all members from any thread, but stop(), which the manager's end calls. ask() waits for
// nothing. replace(), resize() and setWarmUp() wait for one another and for interpreters to start,
// with no GIL held. None may be called by a warm-up function.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fair_mutex.h"
#include "base/mutex.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/interpreter/interpreter_core.h"
#include "runtime/pool/call_records.h"
#include "runtime/pool/replacement_rules.h"
#include "runtime/pool/sizing_rules.h"
#include "runtime/seat.h"

namespace multipy::runtime {

struct ReplicatedState;

class PoolKeeper {
 public:
  using WarmUp = std::function<void(const Interpreter&)>;

  /// Of a pool that begins with `n`. InvalidArgument where the manager's options do not fit.
  PoolKeeper(ManagerState& manager, std::size_t n);
  ~PoolKeeper() { stop(); }
  PoolKeeper(const PoolKeeper&) = delete;
  PoolKeeper& operator=(const PoolKeeper&) = delete;

  /// The first interpreters, all at once, in the first places, which are open already. Throws what
  /// starting one does; those that were started are there then.
  void startFirst(std::size_t n);
  /// From now on nothing is replaced. Waits for what is under way.
  void stop() noexcept;

  /// The interpreter in `place` shall be replaced. For Condemned: unless that call has ended.
  void ask(int place, ReplacementReason reason, CallId call = 0) noexcept;
  /// There may be something to do: looks soon. Waits for nothing.
  void wake() noexcept;
  void replace(int slot);
  void resize(std::size_t n);
  void setWarmUp(WarmUp warmUp);
  /// What is called no more: it may hold objects of this very pool, which hold the pool.
  WarmUp takeWarmUp() noexcept;
  /// Does `work` while the pool stays as it is. Throws what it throws, and HandleError, with what
  /// one is `doing`, after stop().
  class All;
  void onAll(const std::string& doing, const std::function<void(All&)>& work);

  std::size_t seats() const noexcept { return seatCount_.load(std::memory_order_acquire); }
  const std::shared_ptr<Seat>& seat(std::size_t index) const { return seats_[index]; }

  // --- figures
  using CountByReason = std::array<std::uint64_t, kReplacementReasons>;
  struct Tenant {  // of a place
    InterpreterState state = InterpreterState::Serving;
    std::size_t seat = 0;
    std::chrono::nanoseconds age{0};
    std::uint64_t callsBefore = 0;  // made in its place by others
    CountByReason replaced{};       // in its seat
  };
  /// Nothing if there is no interpreter in that place.
  std::optional<Tenant> tenant(int place) const;
  struct Counts {
    CountByReason replaced{};
    std::uint64_t failed = 0;
    std::uint64_t grown = 0, shrunk = 0;
    std::string whyFailed;  // the last one, if none has come about since
    std::size_t leaving = 0, condemned = 0;
  };
  Counts counts() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Record {
    bool isThere = false;
    std::size_t seat = 0;
    InterpreterState state = InterpreterState::Serving;
    Clock::time_point since;
    std::uint64_t callsBefore = 0;
    std::uint64_t callsSeen = 0;  // when it was looked at last
    Clock::time_point lastUse;    // as far as has been seen
    ReplacementRules::Limits limits;
    std::optional<ReplacementReason> asked;
    CallId condemnedBy = 0;
  };
  struct Retirement {
    std::thread thread;
    std::atomic<bool> done{false};
  };
  // What calls use that were under way.
  struct Kept {
    std::shared_ptr<void> what;
    std::vector<CallId> calls;
  };
  class Change;
  /// What the program has of a seat, for as long as one of its functions needs it. Its end shuts no
  /// interpreter down.
  struct Lent {
    Lent(PoolKeeper& keeper, std::size_t seat);
    ~Lent() { handle.seat_.reset(); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    Interpreter handle;
  };

  void refuseInWarmUp() const;
  // --- by one that makes a change
  void startIn(std::size_t seat) MULTIPY_REQUIRES(changing_);
  /// All at once. Throws what that does.
  void warmUpAll(const WarmUp& warmUp) MULTIPY_REQUIRES(changing_);
  void settle(int place, std::size_t seat, const std::shared_ptr<InterpreterCore>& core)
      MULTIPY_REQUIRES(changing_);
  /// Whether it served until now.
  bool leave(int place, InterpreterState as, std::optional<ReplacementReason> reason) noexcept;
  void noteBroken(int place) noexcept;
  void replaceIn(int place, std::size_t seat, ReplacementReason reason) noexcept
      MULTIPY_REQUIRES(changing_);
  void replaceWhatIsDue(int place) noexcept;
  void fillSeats() noexcept;
  void followLoad() noexcept;
  /// The last one sits in `seat`: there are as many as that and one more.
  void lastIs(std::size_t seat) noexcept MULTIPY_REQUIRES(changing_);
  void shrinkTo(std::size_t n) noexcept MULTIPY_REQUIRES(changing_);
  bool isIdle(int place, Clock::time_point now) noexcept;
  void retireDrained() noexcept;
  void retire(std::shared_ptr<InterpreterCore> core) noexcept;
  void reap() noexcept;
  void tell(InterpreterChange::What what, int interpreter,
            std::optional<ReplacementReason> reason = std::nullopt,
            std::string_view error = {}) const;
  void letKeptGo() noexcept;
  /// Starts one, and notes what comes of it. False: not now, or it failed.
  bool tryStartIn(std::size_t seat) noexcept MULTIPY_REQUIRES(changing_);
  InterpreterOptions optionsOf(std::size_t seat) const;

  void run() noexcept;
  void lookAround() noexcept;
  std::optional<ReplacementReason> due(int place) noexcept;
  bool mustLook() const MULTIPY_REQUIRES(mutex_);
  bool hasStopped() const {
    const base::Lock lock(mutex_);
    return stopped_;
  }
  int servingIn(std::size_t seat) const MULTIPY_REQUIRES(mutex_);
  int freePlace() const;
  std::size_t leaving() const MULTIPY_REQUIRES(mutex_);
  std::size_t placesUsed() const;

  ManagerState& manager_;
  const ReplacementOptions options_;
  const ReplacementRules rules_;
  const SizingRules sizing_;
  std::vector<std::shared_ptr<Seat>> seats_;
  std::atomic<std::size_t> seatCount_{0};

  base::FairMutex resizing_;  // before changing_
  base::FairMutex changing_;
  std::atomic<std::thread::id> changer_{};
  WarmUp warmUp_ MULTIPY_GUARDED_BY(changing_);
  std::minstd_rand random_ MULTIPY_GUARDED_BY(changing_){std::random_device{}()};
  Clock::time_point resized_ MULTIPY_GUARDED_BY(changing_) = Clock::now();

  mutable base::Mutex mutex_;
  base::Condition changed_;
  std::vector<Record> records_ MULTIPY_GUARDED_BY(mutex_);  // by place
  Counts counts_ MULTIPY_GUARDED_BY(mutex_);
  std::vector<CountByReason> replacedIn_ MULTIPY_GUARDED_BY(mutex_);  // by seat
  std::list<Kept> kept_ MULTIPY_GUARDED_BY(mutex_);
  std::list<Retirement> retirements_ MULTIPY_GUARDED_BY(mutex_);
  int failures_ MULTIPY_GUARDED_BY(mutex_) = 0;    // to start one, in a row
  int brokenSoon_ MULTIPY_GUARDED_BY(mutex_) = 0;  // that were young as they broke, in a row
  Clock::time_point notBefore_ MULTIPY_GUARDED_BY(mutex_);
  bool asked_ MULTIPY_GUARDED_BY(mutex_) = false;
  bool stopped_ MULTIPY_GUARDED_BY(mutex_) = false;
  std::thread thread_ MULTIPY_GUARDED_BY(mutex_);
};

/// One at a time, in the order in which they come: what starts interpreters and has them leave.
class MULTIPY_SCOPED_CAPABILITY PoolKeeper::Change {
 public:
  /// Throws HandleError in a warm-up function.
  explicit Change(PoolKeeper& keeper) MULTIPY_ACQUIRE(keeper.changing_);
  ~Change() MULTIPY_RELEASE();
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  PoolKeeper& keeper_;
};

/// The interpreters of a pool that stays as it is meanwhile.
class PoolKeeper::All {
 public:
  /// Loads the object in each that serves, and warms it up there. Throws what that does.
  void load(const ReplicatedState& object, const std::function<void(InterpreterSession&)>& warmUp);
  /// It is given up when the calls have ended that are under way now.
  void keepWhileCallsAreUnderWay(std::shared_ptr<void> what);

 private:
  friend class PoolKeeper;
  explicit All(PoolKeeper& keeper) : keeper_(keeper) {}
  PoolKeeper& keeper_;
};

}  // namespace multipy::runtime
