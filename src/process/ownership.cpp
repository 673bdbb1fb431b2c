// The user's half of the address space is divided into aligned slices of 32 GiB (2 to the
// power of the build's MULTIPY_SLICE_BITS), so "whose is this address" is one load from a
// table of a few thousand bytes:
//
//   address  0000'7f40'1234'5678
//            └ >> 35 ┘ = number of its slice ──► sliceOwner[number] = slot or none
//
// A slice is reserved (PROT_NONE, no memory behind it) when an interpreter is
// admitted. When that is dead, the pages are given back and the addresses stay
// reserved and rest, so that a pointer that was left behind somewhere in torch reads
// as having no owner, and not as a successor's. Once more than kRestingSlices rest, or when
// the address space itself is used up, the one that has rested for longest is taken
// again: so a process has at most as many slices as it had interpreters at once, and
// those that rest.
#include "process/ownership.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fork_mutex.h"
#include "base/mutex.h"
#include "base/per_interpreter.h"
#include "multipy/runtime/Exception.h"

namespace multipy::process {
namespace {

constexpr int kSliceBits = MULTIPY_SLICE_BITS;
constexpr std::size_t kSliceSize = std::size_t{1} << kSliceBits;
// 48 bits of user addresses: aarch64's; x86-64 has 47. More are only given to
// programs that ask mmap for them.
constexpr std::size_t kSliceCount = std::size_t{1} << (48 - kSliceBits);

std::uintptr_t number(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) >> kSliceBits;
}

// Two slices' size contains a whole aligned one wherever it begins; the rest goes back.
void* reserveSlice() noexcept {
  void* const given = ::mmap(nullptr, 2 * kSliceSize, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (given == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(given);
  const auto aligned = (begin + kSliceSize - 1) & ~(kSliceSize - 1);
  if (aligned > begin) ::munmap(given, aligned - begin);
  const auto rest = begin + 2 * kSliceSize - (aligned + kSliceSize);
  if (rest > 0) ::munmap(reinterpret_cast<void*>(aligned + kSliceSize), rest);
  void* const slice = reinterpret_cast<void*>(aligned);
  if (number(slice) < kSliceCount) return slice;
  ::munmap(slice, kSliceSize);
  return nullptr;
}

// Gives the pages of a slice back and keeps its addresses.
void emptySlice(void* slice) noexcept {
  ::mmap(slice, kSliceSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
         0);
}

std::atomic<void (*)(InterpreterId)> follower{nullptr};
constinit thread_local InterpreterId enteredSlot;
constinit thread_local InterpreterId lastHeld;  // where the last probe of this thread succeeded

}  // namespace

struct Ownership::State {
  enum class Stage : int { Free, Admitted, Live, Dead };

  struct Slot {
    std::atomic<Stage> stage{Stage::Free};
    std::atomic<bool (*)()> holdsGil{nullptr};
    // Threads inside holdsGil() now. The function lies in a library that can be
    // unloaded once setDead() has returned, so that waits for them.
    std::atomic<int> probes{0};
    std::atomic<std::uint64_t> generation{0};
  };

  struct Range {
    std::uintptr_t end;
    InterpreterId slot;
  };

  PerInterpreter<Slot> slots;
  std::atomic<int> used{0};  // slots[used...] have never been admitted
  std::array<std::atomic<InterpreterId>, kSliceCount> sliceOwner{};
  std::array<std::atomic<bool>, kSliceCount> isSlice{};  // of an interpreter that lives, or lived
  std::atomic<bool> hasProgram{false};

  base::Mutex admission;
  PerInterpreter<void*> slices MULTIPY_GUARDED_BY(admission){};
  // Oldest first. It has room for all that there ever are: a slice is only reserved while no
  // more than kRestingSlices rest.
  std::vector<void*> restingSlices MULTIPY_GUARDED_BY(admission);

  mutable base::ForkSharedMutex rangesLock;
  std::map<std::uintptr_t, Range> ranges MULTIPY_GUARDED_BY(rangesLock);  // by begin
  std::atomic<bool> hasRanges{false};

  State() {
    restingSlices.reserve(InterpreterId::kMost + kRestingSlices + 1);  // release() takes no memory
  }

  void* takeSlice() MULTIPY_REQUIRES(admission) {
    if (restingSlices.size() > kRestingSlices) return takeRested();
    if (void* const slice = reserveSlice()) {
      isSlice[number(slice)].store(true);
      return slice;
    }
    const int error = errno;
    if (restingSlices.empty())
      throw runtime::LoadError(
          "reserving " + std::to_string(kSliceSize >> 30) +
          " GiB of address space for a new interpreter failed: " + std::strerror(error) +
          ". No memory is used by it, but the limit on address space must "
          "allow it: see `ulimit -v` (expected: unlimited) and vm.max_map_count");
    return takeRested();
  }

  void* takeRested() MULTIPY_REQUIRES(admission) {
    void* const slice = restingSlices.front();
    restingSlices.erase(restingSlices.begin());
    return slice;
  }

  bool holds(InterpreterId slot) noexcept {
    Slot& candidate = slots[slot];
    candidate.probes.fetch_add(1);
    bool held = false;
    if (candidate.stage.load() == Stage::Live)
      if (auto* const holdsGil = candidate.holdsGil.load()) held = holdsGil();
    candidate.probes.fetch_sub(1);
    return held;
  }
};

Ownership::Ownership() : state_(new State) {}

Ownership& Ownership::instance() {
  static auto* const one = new Ownership;
  return *one;
}

InterpreterId Ownership::admit() {
  const base::Lock guard(state_->admission);
  for (const InterpreterId slot : EveryInterpreterId(InterpreterId::program().number())) {
    State::Slot& entry = state_->slots[slot];
    if (entry.stage.load() != State::Stage::Free) continue;
    state_->slices[slot] = state_->takeSlice();
    entry.generation.fetch_add(1);
    entry.stage.store(State::Stage::Admitted);
    if (state_->used.load() <= slot.number()) state_->used.store(slot.number() + 1);
    return slot;
  }
  throw runtime::LoadError("starting an interpreter: all " +
                           std::to_string(InterpreterId::program().number()) +
                           " places for interpreters of this process are taken; destroy an "
                           "InterpreterManager first, or use fewer interpreters");
}

AddressRange Ownership::slice(InterpreterId slot) const {
  if (!slot.isInterpreter())
    throw runtime::InvalidArgument("Ownership::slice(" + std::to_string(slot.number()) +
                                   "): expected 0 to " + std::to_string(InterpreterId::kMost - 1));
  const base::Lock guard(state_->admission);
  void* const begin = state_->slices[slot];
  return begin ? AddressRange{begin, kSliceSize} : AddressRange{};
}

std::uint64_t Ownership::generation(InterpreterId slot) const noexcept {
  return slot.isInterpreter() ? state_->slots[slot].generation.load() : 0;
}

void Ownership::setLive(InterpreterId slot, bool (*holdsGil)()) {
  const base::Lock guard(state_->admission);
  if (!slot.isInterpreter() || state_->slots[slot].stage.load() != State::Stage::Admitted)
    throw runtime::InternalError("Ownership::setLive(" + std::to_string(slot.number()) +
                                 "): the slot has not been admitted, or lives already");
  State::Slot& entry = state_->slots[slot];
  entry.holdsGil.store(holdsGil);
  state_->sliceOwner[number(state_->slices[slot])].store(slot);
  entry.stage.store(State::Stage::Live);
}

bool Ownership::isLive(InterpreterId slot) const noexcept {
  return slot.isInterpreter() && state_->slots[slot].stage.load() == State::Stage::Live;
}

void Ownership::setDead(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return;
  const base::Lock guard(state_->admission);
  State::Slot& entry = state_->slots[slot];
  if (entry.stage.load() == State::Stage::Free) return;
  entry.stage.store(State::Stage::Dead);
  if (void* const slice = state_->slices[slot])
    state_->sliceOwner[number(slice)].store(InterpreterId::none());
  entry.holdsGil.store(nullptr);
  while (entry.probes.load() != 0) std::this_thread::yield();
}

void Ownership::release(InterpreterId slot) noexcept {
  setDead(slot);
  removeRanges(slot);
  if (!slot.isInterpreter()) return;
  const base::Lock guard(state_->admission);
  if (void* const slice = std::exchange(state_->slices[slot], nullptr)) {
    emptySlice(slice);
    state_->restingSlices.push_back(slice);
  }
  state_->slots[slot].stage.store(State::Stage::Free);
}

void Ownership::addRange(InterpreterId slot, const void* begin, const void* end) {
  const base::Lock guard(state_->rangesLock);
  state_->ranges[reinterpret_cast<std::uintptr_t>(begin)] = {reinterpret_cast<std::uintptr_t>(end),
                                                             slot};
  state_->hasRanges.store(true);
}

void Ownership::removeRanges(InterpreterId slot) noexcept {
  const base::Lock guard(state_->rangesLock);
  std::erase_if(state_->ranges, [slot](const auto& range) { return range.second.slot == slot; });
  state_->hasRanges.store(!state_->ranges.empty());
}

void Ownership::setProgramLive() noexcept {
  state_->slots[InterpreterId::program()].stage.store(State::Stage::Live);
  state_->hasProgram.store(true);
}

InterpreterId Ownership::ownerOf(const void* object) const noexcept {
  const std::uintptr_t slice = number(object);
  if (slice < kSliceCount) {
    const InterpreterId owner = state_->sliceOwner[slice].load(std::memory_order_acquire);
    if (owner != InterpreterId::none()) return owner;
    if (state_->isSlice[slice].load(std::memory_order_relaxed)) return InterpreterId::none();
  }
  const InterpreterId others = state_->hasProgram.load(std::memory_order_acquire)
                                   ? InterpreterId::program()
                                   : InterpreterId::none();
  // Not on a heap: perhaps a static type or None, inside a private library.
  if (!state_->hasRanges.load(std::memory_order_acquire)) return others;
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  InterpreterId slot = InterpreterId::none();
  {
    const base::SharedLock guard(state_->rangesLock);
    auto range = state_->ranges.upper_bound(address);
    if (range != state_->ranges.begin() && address < (--range)->second.end)
      slot = range->second.slot;
  }
  if (slot == InterpreterId::none()) return others;
  return isLive(slot) ? slot : InterpreterId::none();
}

InterpreterId Ownership::current() const noexcept {
  if (enteredSlot != InterpreterId::none()) return enteredSlot;
  if (lastHeld != InterpreterId::none() && state_->holds(lastHeld)) return lastHeld;
  const int used = state_->used.load(std::memory_order_acquire);
  for (const InterpreterId slot : EveryInterpreterId(used))
    if (slot != lastHeld && state_->holds(slot)) return lastHeld = slot;
  return InterpreterId::none();
}

InterpreterId Ownership::currentPython() const noexcept {
  const InterpreterId slot = current();
  if (slot != InterpreterId::none()) return slot;
  return state_->hasProgram.load(std::memory_order_acquire) ? InterpreterId::program()
                                                            : InterpreterId::none();
}

InterpreterId Ownership::entered() noexcept { return enteredSlot; }
void Ownership::setCurrent(InterpreterId slot) noexcept {
  enteredSlot = slot;
  if (const auto follow = follower.load(std::memory_order_relaxed)) follow(slot);
}
void Ownership::onSetCurrent(void (*follow)(InterpreterId slot)) noexcept { follower = follow; }

}  // namespace multipy::process
