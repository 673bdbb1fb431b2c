#include "runtime/interpreter/fork_hold.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>

#include "base/mutex.h"
#include "base/per_interpreter.h"
#include "process/forked_child.h"
#include "process/ownership.h"
#include "runtime/interpreter/gil.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {

// The forks of this process, one after the other. None waits for ever: not for its turn, not for
// an interpreter, and no interpreter for the end of a fork, whose thread CPython may end (up to
// 3.13) or stop (from 3.14 on) at any point where its own interpreter is being finalised.
class Forks {
 public:
  static Forks& instance() {
    static auto* const one = new Forks;  // interpreters may outlive static destructors
    return *one;
  }

  /// The number of the fork that begins, which the interpreters other than `slot` know of then.
  std::uint64_t begin(InterpreterId slot) noexcept {
    Cores asked;
    const std::uint64_t number = next();
    for (const InterpreterId other : EveryInterpreterId())
      if (other != slot && (asked[other] = InterpreterCore::keptInSlot(other)))
        ask(*asked[other], number);
    const auto end = Clock::now() + kPatience;
    const base::Lock lock(mutex_);
    while (!haveAnswered(asked, number) && changed_.waitUntil(mutex_, end)) {
    }
    return number;
  }

  void end(std::uint64_t number) noexcept {
    const base::Lock lock(mutex_);
    if (underWay_ != number) return;
    underWay_ = 0;
    changed_.notifyAll();
  }

  /// By the thread that has the GIL of `hold`'s interpreter.
  void stay(ForkHold& hold) noexcept {
    const auto end = Clock::now() + kLongest;
    const base::Lock lock(mutex_);
    const std::uint64_t now = underWay_;
    if (now == 0) return;  // it has given up waiting
    answer(hold, now);
    while (underWay_ == now && changed_.waitUntil(mutex_, end)) {
    }
  }

  void decline(ForkHold& hold) noexcept {
    const base::Lock lock(mutex_);
    answer(hold, last_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Cores = PerInterpreter<std::shared_ptr<InterpreterCore>>;

  // To load torch takes seconds, and most of that time the GIL.
  static constexpr std::chrono::seconds kPatience{10};
  static constexpr std::chrono::seconds kLongest{60};

  std::uint64_t next() noexcept {
    const auto end = Clock::now() + kLongest;
    const base::Lock lock(mutex_);
    while (underWay_ != 0 && changed_.waitUntil(mutex_, end)) {
    }
    return underWay_ = ++last_;
  }

  void ask(InterpreterCore& core, std::uint64_t number) noexcept {
    ForkHold& hold = core.forkHold();
    if (hold.given_.exchange(true)) return;  // by a fork that has given up: it serves this one
    if (process::postHousekeeping(core.slot(), hold)) return;
    hold.given_ = false;
    const base::Lock lock(mutex_);
    answer(hold, number);
  }

  void answer(ForkHold& hold, std::uint64_t number) noexcept MULTIPY_REQUIRES(mutex_) {
    hold.answered_ = number;
    changed_.notifyAll();
  }

  bool haveAnswered(const Cores& asked, std::uint64_t number) const MULTIPY_REQUIRES(mutex_) {
    return std::ranges::all_of(
        asked, [&](const auto& core) { return !core || core->forkHold().answered_ >= number; });
  }

  base::Mutex mutex_;
  base::Condition changed_;
  std::uint64_t last_ MULTIPY_GUARDED_BY(mutex_) = 0;  // the number of forks
  // The number of the one for which GILs are held.
  std::uint64_t underWay_ MULTIPY_GUARDED_BY(mutex_) = 0;
};

namespace {

// The calling thread's fork. Ends with the thread, at the latest.
class OwnFork {
 public:
  ~OwnFork() { end(); }
  void begin(InterpreterId slot) noexcept {
    if (number_ == 0) number_ = Forks::instance().begin(slot);
  }
  void end() noexcept {
    if (number_ == 0 || process::inForkedChild()) return;
    Forks::instance().end(number_);
    number_ = 0;
  }

 private:
  std::uint64_t number_ = 0;  // 0: none is under way
};

OwnFork& ownFork() {
  thread_local OwnFork own;
  return own;
}

}  // namespace

void ForkHold::run() noexcept {
  given_ = false;
  Forks& forks = Forks::instance();
  if (!core_.tryBeginOperation()) return forks.decline(*this);
  try {
    const Entered inside(core_, Entered::GatePassed{}, Entered::Priority::High);
    forks.stay(*this);
  } catch (const std::bad_alloc&) {  // this thread's first time inside, which takes memory
    forks.decline(*this);
  }
}

void holdOthersForFork(InterpreterId slot) noexcept {
  if (!process::inForkedChild()) ownFork().begin(slot);
}

void letOthersGoAfterFork() noexcept {
  if (!process::inForkedChild()) ownFork().end();
}

}  // namespace multipy::runtime
