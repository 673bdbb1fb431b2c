// Many threads call one model in a pool in which everything changes meanwhile, for as long as is
// said, and keep a book of all calls.
//
//   pool_soak --packages DIR [--minutes M] [--interpreters N] [--threads T] ...
//
// Calls are waited for, have a future or a callback, are awaited by a coroutine, or made in a
// session; with deadlines, stops at random times, priorities, or nothing of it. What they do
// computes, sleeps, raises, loops for ever, waits for ever (call.cpp). Meanwhile interpreters are
// replaced, by hand and since calls in them were interrupted, the model becomes another version,
// the pool grows and shrinks (changes.h), and what the pool says of itself is read (figures.h).
//
// Each call has an id. It begins at most once and has one outcome (ledger.h), with an answer that
// no other id, and no version that was not to be called, can have given (call.cpp).
//
// Exit status: 0 if all was so, 1 if anything was not, a call or a change took longer than
// --stuck-after, or memory has grown (memory.h says by how much), 2 for wrong usage. scripts/soak
// --pool builds and starts it.
#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <memory>
#include <random>
#include <thread>

#include "../memory.h"
#include "../progress.h"
#include "../watchdog.h"
#include "changes.h"
#include "figures.h"
#include "forms.h"
#include "pool.h"
#include "pool_options.h"

namespace multipy::soak::pool {
namespace {

using namespace std::chrono_literals;

volatile std::sig_atomic_t interrupted = 0;  // by SIGINT or SIGTERM: ends as if time were over

class PoolSoak {
 public:
  explicit PoolSoak(const PoolSoakOptions& options)
      : options_(options),
        watchdog_(options.threads + kOthers, options.stuckAfter),
        pool_(started()),
        figures_(*pool_, static_cast<std::size_t>(options.interpreters),
                 static_cast<double>(options.stuckAfter.count())) {}

  /// True if all was well.
  bool run();

 private:
  enum Other { Main, Replaces, Switches, Resizes, kOthers };  // threads, for the watchdog
  int numberOf(Other other) const { return options_.threads + other; }

  std::unique_ptr<Pool> started();
  std::jthread change(Other other, void (PoolSoak::*make)(const ChangeContext&, std::stop_token));
  void replace(const ChangeContext& context, std::stop_token stop) {
    replaceInterpreters(context, options_.replaceEvery, stop);
  }
  void switchOver(const ChangeContext& context, std::stop_token stop) {
    switchVersions(context, options_.switchEvery, stop);
  }
  void resize(const ChangeContext& context, std::stop_token stop) {
    resizePool(context, static_cast<std::size_t>(options_.interpreters), isFull_, stop);
  }
  void call(int thread);
  void callUntilTheEnd(Progress& progress);
  void comeToRest();
  bool judge(const Progress& progress) const;

  const PoolSoakOptions options_;
  Watchdog watchdog_;
  const std::unique_ptr<Pool> pool_;
  Figures figures_;
  ChangeTimes changeTimes_;
  std::atomic<bool> stop_ = false, isFull_ = false;
};

std::unique_ptr<Pool> PoolSoak::started() {
  const auto watch = watchdog_.watch(numberOf(Main), "start of the interpreters");
  return std::make_unique<Pool>(static_cast<std::size_t>(options_.interpreters),
                                static_cast<std::size_t>(std::max(options_.threads / 4, 1)),
                                !options_.wholeTorch, options_.packages);
}

std::jthread PoolSoak::change(Other other,
                              void (PoolSoak::*make)(const ChangeContext&, std::stop_token)) {
  return std::jthread([this, other, make](std::stop_token stop) {
    at::set_num_threads(1);
    (this->*make)({*pool_, changeTimes_, watchdog_, numberOf(other),
                   options_.seed + static_cast<std::uint64_t>(numberOf(other))},
                  std::move(stop));
  });
}

void PoolSoak::call(int thread) {
  at::set_num_threads(1);
  Forms forms(*pool_, options_.seed + static_cast<std::uint64_t>(thread));
  const auto most = std::chrono::microseconds(options_.pause).count();
  while (!stop_) {
    {
      const auto watch = watchdog_.watch(thread, "calls");
      forms.next();
    }
    // Now and then some in a row.
    if (forms.random().chance(70))
      std::this_thread::sleep_for(std::chrono::microseconds(forms.random().number(0, most)));
  }
}

void PoolSoak::callUntilTheEnd(Progress& progress) {
  std::vector<std::jthread> threads;
  std::latch together(options_.threads);
  for (int thread = 0; thread < options_.threads; ++thread)
    threads.emplace_back([&, thread] {
      together.arrive_and_wait();
      call(thread);
      const auto watch = watchdog_.watch(thread, "the end of calls that no thread waits for");
    });
  std::vector<std::jthread> changes;
  changes.push_back(change(Replaces, &PoolSoak::replace));
  changes.push_back(change(Switches, &PoolSoak::switchOver));
  changes.push_back(change(Resizes, &PoolSoak::resize));
  double next = static_cast<double>(options_.every.count());
  while (!interrupted && progress.seconds() < options_.minutes * 60) {
    std::this_thread::sleep_for(200ms);
    figures_.look();
    if (progress.seconds() < next) continue;
    progress.line(figures_.summary(), isFull_);
    next += static_cast<double>(options_.every.count());
  }
  stop_ = true;
}

/// As few interpreters as there may be; those that leave have gone, and no call is left.
void PoolSoak::comeToRest() {
  const auto watch = watchdog_.watch(numberOf(Main), "waiting for the last calls and interpreters");
  while (pool_->ledger.open() != 0) std::this_thread::sleep_for(10ms);
  const auto fewest = static_cast<std::size_t>(std::max(options_.interpreters / 4, 1));
  pool_->manager->resize(fewest);
  const auto isAtRest = [&] {
    const runtime::PoolStats stats = pool_->manager->stats();
    return stats.interpreters.size() == fewest &&
           std::ranges::all_of(stats.interpreters,
                               [](const auto& each) { return each.users == 0; });
  };
  while (!isAtRest()) std::this_thread::sleep_for(10ms);
}

bool PoolSoak::judge(const Progress& progress) const {
  const double warmUp = warmUpSeconds(options_.minutes * 60);
  const Growth memory = growth(progress.samples(), warmUp);
  const std::string tooMuch = tooMuchGrowth(memory);
  const std::string faults = pool_->faults.byKind();
  std::printf("\n%s\n%s\n%ld calls in %.0f s, %s%s\n", changeTimes_.table().c_str(),
              figures_.totals().c_str(), pool_->ledger.outcomes(), progress.seconds(),
              faults.empty() ? "each with its one right outcome" : "FAULTS: ", faults.c_str());
  std::printf("%s\n", growthText("PSS with all interpreters", memory, warmUp).c_str());
  if (!tooMuch.empty()) std::printf("TOO MUCH: %s\n", tooMuch.c_str());
  return faults.empty() && tooMuch.empty();
}

bool PoolSoak::run() {
  std::printf("%d to %d interpreters, %d threads, %.1f minutes, seed %llu%s\n",
              std::max(options_.interpreters / 4, 1), options_.interpreters, options_.threads,
              options_.minutes, static_cast<unsigned long long>(options_.seed),
              options_.wholeTorch ? ", whole torch" : "");
  std::fflush(stdout);
  Progress progress("calls", [this] {
    return Progress::Counts{pool_->ledger.outcomes(), pool_->faults.byKind()};
  });
  callUntilTheEnd(progress);
  comeToRest();
  figures_.compareWithOutcomes();
  progress.line(figures_.summary(), false);
  {
    const auto watch = watchdog_.watch(numberOf(Main), "end of the interpreters");
    pool_->manager.reset();
  }
  return judge(progress);
}

void endEarly() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace
}  // namespace multipy::soak::pool

int main(int count, char** words) {
  using namespace multipy::soak;
  try {
    pool::PoolSoakOptions options = pool::parsePoolOptions({words + 1, words + count});
    if (options.seed == 0) options.seed = std::random_device()();
    at::set_num_threads(1);
    // What torch.package warns of each time that it loads a tensor.
    setenv("PYTHONWARNINGS", "ignore:TypedStorage is deprecated", 1);
    pool::endEarly();
    return pool::PoolSoak(options).run() ? 0 : 1;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "pool_soak: %s\n%s", error.what(), pool::kPoolUsage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pool_soak: %s\n", error.what());
    return 1;
  }
}
