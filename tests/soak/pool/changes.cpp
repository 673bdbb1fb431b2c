#include "changes.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <type_traits>

#include "multipy/runtime/Exception.h"

namespace multipy::soak::pool {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// False: a stop was requested.
bool pause(const std::stop_token& stop, Clock::duration time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

/// What a warm-up function throws that is to leave the old version serving.
class NotToday : public std::runtime_error {
 public:
  NotToday() : std::runtime_error("this version shall not be") {}
};

}  // namespace

void ChangeTimes::add(const std::string& change, std::chrono::duration<double> took) {
  const std::lock_guard lock(mutex_);
  Row& row = rows_[change];
  ++row.done;
  row.total += took.count();
  row.longest = std::max(row.longest, took.count());
}

std::string ChangeTimes::table() const {
  const std::lock_guard lock(mutex_);
  std::string text = "change                                   done    mean s longest s\n";
  for (const auto& [change, row] : rows_) {
    char line[160];
    std::snprintf(line, sizeof line, "%-36s %8ld %9.1f %9.1f\n", change.c_str(), row.done,
                  row.total / static_cast<double>(row.done), row.longest);
    text += line;
  }
  return text;
}

template <class Expected, class Work>
void ChangeContext::make(const std::string& change, const Work& work) const {
  const auto watch = watchdog.watch(number, change);
  const auto start = Clock::now();
  try {
    work();
    times.add(change, Clock::now() - start);
  } catch (const std::exception& error) {
    if constexpr (!std::is_void_v<Expected>)
      if (dynamic_cast<const Expected*>(&error)) return;
    pool.faults.note("change that failed", change + ": " + error.what());
  }
}

// --- interpreters

void replaceInterpreters(const ChangeContext& context, std::chrono::seconds every,
                         const std::stop_token& stop) {
  Random random(context.seed);
  runtime::InterpreterManager& manager = *context.pool.manager;
  while (pause(stop, every)) {
    const auto all = manager.allInstances();
    const auto& one = all[random.next() % all.size()];
    // InvalidArgument, HandleError: it has left the pool meanwhile, by itself or by a resize.
    int slot = -1;
    context.make<runtime::HandleError>("choose one to replace", [&] { slot = one.slot(); });
    if (slot >= 0)
      context.make<runtime::InvalidArgument>("replace", [&] { manager.replace(slot); });
  }
}

void resizePool(const ChangeContext& context, std::size_t all, std::atomic<bool>& isFull,
                const std::stop_token& stop) {
  Random random(context.seed);
  runtime::InterpreterManager& manager = *context.pool.manager;
  const auto fewest = static_cast<std::int64_t>(std::max<std::size_t>(all / 4, 1));
  const auto resize = [&](std::size_t n) {
    context.make(n > manager.allInstances().size() ? "grow" : "shrink", [&] {
      manager.resize(n);
      if (manager.allInstances().size() != n) throw std::runtime_error("it has another size");
    });
  };
  for (int i = 0; pause(stop, 10s); ++i) {
    if (i % 3 != 2) {
      resize(static_cast<std::size_t>(random.number(fewest, static_cast<std::int64_t>(all))));
      continue;
    }
    resize(all);
    isFull = true;
    pause(stop, 40s);
    isFull = false;
  }
}

// --- versions

void switchVersions(const ChangeContext& context, std::chrono::seconds every,
                    const std::stop_token& stop) {
  Random random(context.seed);
  Pool& pool = context.pool;
  const auto warmUp = [&](runtime::InterpreterSession& session) { pool.warmUp(session); };
  long serving = 0;
  for (long version = 1; pause(stop, every); ++version) {
    runtime::ReplicatedObj next;
    context.make("load a version", [&] { next = pool.load(version); });
    if (random.chance(15)) {
      context.make<NotToday>("switch to one that fails", [&] {
        pool.model.switchTo(next, [](runtime::InterpreterSession&) { throw NotToday(); });
        throw std::runtime_error("nothing was thrown");
      });
      continue;
    }
    pool.versions.introduce(version);
    if (random.chance(50)) {
      context.make("share calls", [&] { pool.model.shareCalls(next, 0.3, warmUp); });
      pause(stop, every / 4);
      if (random.chance(30)) {
        context.make("share no calls", [&] { pool.model.shareCalls(next, 0); });
        pool.versions.retire(version);
        continue;
      }
    }
    context.make("switch", [&] { pool.model.switchTo(next, warmUp); });
    pool.versions.retire(serving);
    serving = version;
  }
}

}  // namespace multipy::soak::pool
