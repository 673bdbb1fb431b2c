#include "ledger.h"

#include <utility>

namespace multipy::soak::pool {
namespace {

// A forgotten call has been interrupted, or has ended, long before.
constexpr std::chrono::minutes kForgottenFor{2};

}  // namespace

const char* nameOf(End end) noexcept {
  static constexpr const char* kNames[kEnds] = {"a value",
                                                "raised",
                                                "deadline while running",
                                                "cancelled while running",
                                                "deadline in line",
                                                "cancelled in line",
                                                "line full"};
  return kNames[static_cast<std::size_t>(end)];
}

CallId Ledger::open(const char* what, Maker maker) {
  const CallId id = ++lastId_;
  ++open_;
  opened_ += maker == Maker::Pool;
  Shard& shard = shardOf(id);
  const std::lock_guard lock(shard.mutex);
  shard.entries.emplace(id, Entry{.what = what, .maker = maker, .since = Clock::now()});
  return id;
}

void Ledger::begun(CallId id) {
  Shard& shard = shardOf(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(id);
  if (found == shard.entries.end())
    return faults_.note("begun after its outcome", "call " + std::to_string(id));
  if (++found->second.begun > 1)
    faults_.note("doubled call", std::to_string(id) + ", " + found->second.what);
}

void Ledger::ended(CallId id) {
  Shard& shard = shardOf(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(id);
  if (found == shard.entries.end())
    return faults_.note("ended after its outcome", "call " + std::to_string(id));
  if (++found->second.ended > found->second.begun)
    faults_.note("ended without having begun", std::to_string(id) + ", " + found->second.what);
}

void Ledger::close(CallId id, End end) {
  Entry entry;
  {
    Shard& shard = shardOf(id);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.entries.find(id);
    if (found == shard.entries.end() || found->second.forgotten)
      return faults_.note("second outcome", "call " + std::to_string(id) + ": " + nameOf(end));
    entry = found->second;
    shard.entries.erase(found);
  }
  check(id, entry, end);
  ++ends_[static_cast<std::size_t>(entry.maker)][static_cast<std::size_t>(end)];
  --open_;
}

void Ledger::check(CallId id, const Entry& entry, End end) {
  const auto isIn = [](int value, int least, int most) { return value >= least && value <= most; };
  bool right = false;
  switch (end) {
    case End::Value:
      right = entry.begun == 1 && entry.ended == 1;
      break;
    case End::Raised:
      right = entry.begun == 1 && entry.ended == 0;
      break;
    case End::DeadlineRunning:
    case End::CancelledRunning:
      right = isIn(entry.begun, 0, 1) && isIn(entry.ended, 0, 1);
      break;
    case End::DeadlineInLine:
    case End::CancelledInLine:
    case End::QueueFull:
      right = entry.begun == 0;
      break;
  }
  if (!right)
    faults_.note("outcome that is not what was done",
                 "call " + std::to_string(id) + ", " + entry.what + ": " + nameOf(end) +
                     ", and it has begun " + std::to_string(entry.begun) + " and ended " +
                     std::to_string(entry.ended) + " times");
}

void Ledger::forget(CallId id) {
  Shard& shard = shardOf(id);
  const std::lock_guard lock(shard.mutex);
  Entry& entry = shard.entries.at(id);
  entry.forgotten = true;
  entry.since = Clock::now();
  ++forgotten_;
  --open_;
}

Ledger::Counts Ledger::counts() const {
  Counts counts{.opened = opened_, .forgotten = forgotten_};
  for (std::size_t end = 0; end < kEnds; ++end) {
    counts.pool[end] = ends_[static_cast<std::size_t>(Maker::Pool)][end];
    counts.session[end] = ends_[static_cast<std::size_t>(Maker::Session)][end];
  }
  return counts;
}

long Ledger::outcomes() const {
  long all = 0;
  for (const auto& maker : ends_)
    for (const auto& count : maker) all += count;
  return all;
}

std::optional<Ledger::Oldest> Ledger::oldest() {
  const auto now = Clock::now();
  std::optional<Oldest> oldest;
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    std::erase_if(shard.entries, [&](const auto& each) {
      return each.second.forgotten && now - each.second.since > kForgottenFor;
    });
    for (const auto& [id, entry] : shard.entries) {
      const double seconds = std::chrono::duration<double>(now - entry.since).count();
      if (!entry.forgotten && (!oldest || seconds > oldest->seconds))
        oldest = Oldest{id, entry.what, seconds};
    }
  }
  return oldest;
}

}  // namespace multipy::soak::pool
