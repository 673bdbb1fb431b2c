#include "runtime/pool/call_records.h"

#include <time.h>

#include <algorithm>
#include <set>

#include "base/never_destroyed.h"

namespace multipy::runtime {
namespace {

struct Names {
  base::Mutex mutex;
  std::set<std::string> names MULTIPY_GUARDED_BY(mutex);
};

}  // namespace

const std::string* keptName(const std::string& name) {
  Names& kept = base::neverDestroyed<Names>();
  const base::Lock lock(kept.mutex);
  return &*kept.names.insert(name).first;
}

std::chrono::nanoseconds coarseNow() noexcept {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// --- one call

CallRecord::CallRecord(CallRecords& records, int place, bool alone, const std::string* model,
                       void* threadState) noexcept
    : place_(records.places_[static_cast<std::size_t>(place)]),
      record_(alone ? &place_.alone : &own_) {
  constexpr auto relaxed = std::memory_order_relaxed;
  // Behind the id's removal by the call before: a reader that sees what follows sees that, too.
  std::atomic_thread_fence(std::memory_order_release);
  record_->model.store(model, relaxed);
  record_->begun.store(coarseNow().count(), relaxed);
  record_->threadState.store(threadState, relaxed);
  record_->thread.store(::pthread_self(), relaxed);
  record_->wakeable.store(&thread_, relaxed);
  record_->interrupted.store(EndReason::None, relaxed);
  record_->withThreads.store(false, relaxed);
  const CallId base = static_cast<CallId>(place) << CallRecords::kPlaceShift;
  if (alone) {
    // One of the two is more by the time that the next one comes.
    const std::uint64_t number = place_.made.load(relaxed) + place_.alone.notMade.load(relaxed) + 1;
    record_->id.store(base | number, std::memory_order_release);
    return;
  }
  const std::uint64_t number = place_.sharedNumber.fetch_add(1, relaxed) + 1;
  record_->id.store(base | CallRecords::kShared | number, std::memory_order_release);
  const base::Lock lock(place_.mutex);
  try {
    place_.shared.push_back(record_);
  } catch (...) {
    record_->id.store(0, relaxed);  // without memory for it: it goes on, and is not listed
  }
}

CallRecord::~CallRecord() {
  if (record_ == &own_) {
    const base::Lock lock(place_.mutex);
    std::erase(place_.shared, record_);
  } else if (!isMade_) {
    record_->notMade.store(record_->notMade.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
  }
  record_->id.store(0, std::memory_order_release);
}

void CallRecord::countAsMade() noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  isMade_ = true;
  if (record_ == &own_)
    place_.sharedMade.fetch_add(1, relaxed);
  else
    place_.made.store(place_.made.load(relaxed) + 1, relaxed);
}

// --- all

std::optional<CallUnderWay> CallRecords::read(const Record& record) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  CallUnderWay call{.id = record.id.load(std::memory_order_acquire)};
  if (call.id == 0) return std::nullopt;
  call.model = record.model.load(relaxed);
  call.begun = std::chrono::nanoseconds(record.begun.load(relaxed));
  call.threadState = record.threadState.load(relaxed);
  call.thread = record.thread.load(relaxed);
  call.wakeable = record.wakeable.load(relaxed);
  call.interrupted = record.interrupted.load(relaxed);
  call.withThreads = record.withThreads.load(relaxed);
  // Another one has begun meanwhile: then it is that one's, or a mixture.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (record.id.load(relaxed) != call.id) return std::nullopt;
  return call;
}

std::vector<CallUnderWay> CallRecords::underWay(int place) const {
  const Place& here = places_[static_cast<std::size_t>(place)];
  std::vector<CallUnderWay> calls;
  if (const auto call = read(here.alone)) calls.push_back(*call);
  const base::Lock lock(here.mutex);
  for (const Record* record : here.shared)
    if (const auto call = read(*record)) calls.push_back(*call);
  return calls;
}

std::optional<CallUnderWay> CallRecords::longest(std::size_t places, CallId without) const {
  std::optional<CallUnderWay> longest;
  for (std::size_t i = 0; i < places; ++i)
    for (const CallUnderWay& call : underWay(static_cast<int>(i)))
      if (call.id != without && (!longest || call.begun < longest->begun)) longest = call;
  return longest;
}

template <class Use>
bool CallRecords::withRecord(CallId id, const Use& use) const {
  Place& here = places_[static_cast<std::size_t>(placeOf(id))];
  if (here.alone.id.load(std::memory_order_acquire) == id) {
    use(here.alone);
    return true;
  }
  const base::Lock lock(here.mutex);
  for (Record* record : here.shared) {
    if (record->id.load(std::memory_order_acquire) != id) continue;
    use(*record);
    return true;
  }
  return false;
}

void CallRecords::markInterrupted(CallId id, EndReason reason) {
  withRecord(id, [&](Record& record) {
    // The first reason stays: it is what began to end it.
    EndReason none = EndReason::None;
    record.interrupted.compare_exchange_strong(none, reason);
  });
}

std::optional<CallUnderWay> CallRecords::find(CallId id) const {
  std::optional<CallUnderWay> call;
  withRecord(id, [&](const Record& record) { call = read(record); });
  return call;
}

std::uint64_t CallRecords::made(int place) const noexcept {
  const Place& here = places_[static_cast<std::size_t>(place)];
  return here.made.load(std::memory_order_relaxed) +
         here.sharedMade.load(std::memory_order_relaxed);
}

}  // namespace multipy::runtime
