// What the program asks a PoolKeeper for.
#include <optional>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "process/fork_guard.h"
#include "runtime/interpreter/gil.h"
#include "runtime/manager_state.h"
#include "runtime/pool_keeper.h"
#include "runtime/replicated_state.h"

namespace multipy::runtime {

void PoolKeeper::refuseInWarmUp() const {
  if (changer_.load() == std::this_thread::get_id())
    throw HandleError(
        "cannot change a pool's interpreters in a warm-up function: they are being changed just "
        "now; do it when that has returned");
}

PoolKeeper::Change::Change(PoolKeeper& keeper) : keeper_(keeper) {
  keeper.refuseInWarmUp();
  keeper.changing_.lock();
  keeper.changer_ = std::this_thread::get_id();
}

PoolKeeper::Change::~Change() {
  keeper_.changer_ = std::thread::id();
  keeper_.changing_.unlock();
}

// --- by hand

void PoolKeeper::replace(int slot) {
  process::refuseInForkedChild("replace an interpreter");
  const GilReleased outside;
  const Change change(*this);
  for (std::size_t i = 0; i < placesUsed(); ++i) {
    const auto core = manager_.places.coreAt(static_cast<int>(i));
    if (!core || core->slot().number() != slot) continue;
    std::size_t seat;
    {
      const base::Lock lock(mutex_);
      if (records_[i].state != InterpreterState::Serving) continue;
      seat = records_[i].seat;
    }
    startIn(seat);
    leave(static_cast<int>(i), InterpreterState::Leaving, ReplacementReason::ByHand);
    return wake();
  }
  throw InvalidArgument("cannot replace interpreter " + std::to_string(slot) +
                        ": it does not serve in this pool (any more); allInstances()[i].slot() is "
                        "the number of one that does");
}

void PoolKeeper::resize(std::size_t n) {
  process::refuseInForkedChild("resize a pool of interpreters");
  if (n == 0 || n > seats_.size())
    throw InvalidArgument("InterpreterManager: cannot be resized to " + std::to_string(n) +
                          " interpreters, expected 1 to " + std::to_string(seats_.size()));
  refuseInWarmUp();
  const GilReleased outside;
  const base::Lock only(resizing_);
  for (;;) {
    const Change one(*this);  // others take their turns in between: what has left is shut down
    const std::size_t seat = seats();
    if (seat < n) {
      startIn(seat);
      lastIs(seat);
      continue;
    }
    shrinkTo(n);
    break;
  }
  wake();
}

void PoolKeeper::setWarmUp(WarmUp warmUp) {
  process::refuseInForkedChild("warm up a pool of interpreters");
  const GilReleased outside;
  const Change change(*this);
  warmUpAll(warmUp);
  warmUp_ = std::move(warmUp);
}

PoolKeeper::WarmUp PoolKeeper::takeWarmUp() noexcept {
  const Change change(*this);
  return std::exchange(warmUp_, nullptr);
}

// --- all at once

void PoolKeeper::onAll(const std::string& doing, const std::function<void(All&)>& work) {
  const GilReleased outside;
  const Change change(*this);
  if (hasStopped()) manager_.throwRefused({.refused = CallQueue::Refusal::Ended}, doing);
  All all(*this);
  work(all);
}

void PoolKeeper::All::load(const ReplicatedState& object,
                           const std::function<void(InterpreterSession&)>& warmUp) {
  for (std::size_t i = 0; i < keeper_.seats(); ++i) {
    Guest guest = keeper_.seats_[i]->guest();
    if (!guest.core()) continue;
    const auto version = object.version();
    const auto manager = keeper_.manager_.shared_from_this();
    InterpreterSession session = SessionState::on(std::move(guest), manager, version->package);
    constexpr const char* kDoing = "load an object";
    session.self = ReplicatedState::objIn(*version, SessionState::of(&session, kDoing), kDoing);
    if (warmUp) warmUp(session);
  }
}

// A call is written down with the GIL and looks then what it is to use. So with the GIL in hand all
// are seen that have looked before. In a condemned interpreter none begins.
void PoolKeeper::All::keepWhileCallsAreUnderWay(std::shared_ptr<void> what) {
  Kept kept{std::move(what), {}};
  for (std::size_t i = 0; i < keeper_.placesUsed(); ++i) {
    const int place = static_cast<int>(i);
    const auto core = keeper_.manager_.places.coreAt(place);
    const auto tenant = keeper_.tenant(place);
    if (!core || !tenant) continue;
    std::optional<Entered> inside;
    if (tenant->state != InterpreterState::Condemned && core->tryBeginOperation())
      inside.emplace(*core, Entered::GatePassed{}, Entered::Priority::High);
    for (const CallUnderWay& call : keeper_.manager_.calls.underWay(place))
      kept.calls.push_back(call.id);
  }
  {
    const base::Lock lock(keeper_.mutex_);
    keeper_.kept_.push_back(std::move(kept));
  }
  keeper_.wake();
}

}  // namespace multipy::runtime
