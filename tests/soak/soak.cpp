// Many threads do all kinds of things in a few interpreters, for as long as is said, and
// compare every answer.
//
//   soak --packages DIR --modules DIR [--minutes M] [--interpreters N] [--threads T] ...
//
// Each thread chooses acts at random (acts.h) until the time is over. All of it starts cold:
// the first acts bring torch and all else into interpreters that have just been made, unless
// --warm is given. Choices go by --seed, and so does an act by the seed that is printed when
// it fails.
//
// Exit status: 0 if every answer was right, 1 if one was wrong, an error was not expected, an
// act took longer than --stuck-after, or memory has grown (memory.h says by how much), 2 for
// wrong usage. scripts/soak builds and starts it.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "act_choice.h"
#include "acts.h"
#include "memory.h"
#include "options.h"
#include "progress.h"
#include "tally.h"
#include "watchdog.h"
#include "world.h"

namespace multipy::soak {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // by SIGINT or SIGTERM: ends as if time were over

class Soak {
 public:
  explicit Soak(const Options& options)
      : options_(options),
        acts_(chosenActs(allActs(), options)),
        choice_(acts_),
        tally_(acts_),
        watchdog_(options.threads + 1, options.stuckAfter) {}

  /// True if all was well.
  bool run();

 private:
  std::unique_ptr<World> start();
  void warmUp(World& world);
  void visitAll(World& world, int thread);
  void work(World& world, int thread);
  void workUntilTheEnd(World& world, Progress& progress);
  void end(std::unique_ptr<World> world);
  bool judge(const Progress& progress) const;
  int ownNumber() const { return options_.threads; }  // of the main thread, for the watchdog

  const Options options_;
  const Acts acts_;
  ActChoice choice_;
  Tally tally_;
  std::atomic<bool> stop_ = false;
  Watchdog watchdog_;
};

std::unique_ptr<World> Soak::start() {
  const auto watch = watchdog_.watch(ownNumber(), "start of the interpreters");
  return std::make_unique<World>(
      WorldOptions{options_.interpreters, options_.packages, options_.modules});
}

// One interpreter after the other brings torch and all modules in.
void Soak::warmUp(World& world) {
  for (const auto& interpreter : world.manager().allInstances()) {
    const auto watch = watchdog_.watch(ownNumber(), "warm-up");
    const auto session = interpreter.acquireSession();
    for (const char* module : {"soak_autograd", "soak_errors", "soak_library", "soak_tensors",
                               "soak_threads", "soak_values"})
      session.global("importlib", "import_module")({module});
    world.model().acquireSession(&interpreter).self({at::zeros({1, 32})});
  }
}

// CPython keeps some 20 KB for each thread in each interpreter that it has been in. Acts choose
// their interpreters so that it would take an hour until each thread has been in each.
void Soak::visitAll(World& world, int thread) {
  for (const auto& interpreter : world.manager().allInstances()) {
    if (stop_) return;
    const auto watch = watchdog_.watch(thread, "visit of all interpreters");
    interpreter.acquireSession().global("builtins", "abs")({-1});
  }
}

void Soak::work(World& world, int thread) {
  using Clock = std::chrono::steady_clock;
  at::set_num_threads(1);
  Random random(options_.seed + static_cast<std::uint64_t>(thread));
  const auto visit =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(warmUpSeconds(options_.minutes * 60) / 2));
  bool visited = false;
  while (!stop_) {
    if (!visited && Clock::now() >= visit) {
      visitAll(world, thread);
      visited = true;
    }
    const std::size_t act = choice_.begin(random);
    const std::uint64_t seed = random.next();
    const auto watch =
        watchdog_.watch(thread, std::string(acts_[act].name) + ", seed " + std::to_string(seed));
    tally_.perform(act, world, seed);
    choice_.ended(act);
  }
}

void Soak::workUntilTheEnd(World& world, Progress& progress) {
  std::vector<std::jthread> threads;
  std::latch together(options_.threads);
  for (int thread = 0; thread < options_.threads; ++thread)
    threads.emplace_back([&, thread] {
      together.arrive_and_wait();
      work(world, thread);
    });
  double next = static_cast<double>(options_.every.count());
  while (!interrupted && progress.seconds() < options_.minutes * 60) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (progress.seconds() < next) continue;
    progress.line();
    next += static_cast<double>(options_.every.count());
  }
  stop_ = true;
}

// Half of what was kept goes before the interpreters, the rest after them.
void Soak::end(std::unique_ptr<World> world) {
  const auto watch = watchdog_.watch(ownNumber(), "end of the interpreters");
  try {
    world->sessions.clear();
    world->objects.clear();
    world.reset();
  } catch (const std::exception& error) {
    tally_.failed("the end of the interpreters", error);
  }
}

bool Soak::judge(const Progress& progress) const {
  const double warmUp = warmUpSeconds(options_.minutes * 60);
  const Growth memory = growth(progress.samples(), warmUp);
  const std::string tooMuch = tooMuchGrowth(memory);
  const std::string errors = tally_.errorsByType();
  std::printf("\n%s\n%ld acts in %.0f s, %s%s\n", tally_.table().c_str(), tally_.done(),
              progress.seconds(),
              errors.empty() ? "all answers right" : "ERRORS: ", errors.c_str());
  std::printf("%s\n", growthText("PSS", memory, warmUp).c_str());
  if (!tooMuch.empty()) std::printf("TOO MUCH: %s\n", tooMuch.c_str());
  return errors.empty() && tooMuch.empty();
}

bool Soak::run() {
  std::printf("%zu acts, %d interpreters, %d threads, %.1f minutes, seed %llu, %s\n", acts_.size(),
              options_.interpreters, options_.threads, options_.minutes,
              static_cast<unsigned long long>(options_.seed), options_.warm ? "warm" : "cold");
  std::fflush(stdout);
  auto world = start();
  if (options_.warm) warmUp(*world);
  Progress progress("acts", [this] {
    return Progress::Counts{tally_.done(), tally_.errorsByType()};
  });
  workUntilTheEnd(*world, progress);
  progress.line();
  end(std::move(world));
  return judge(progress);
}

void endEarly() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace
}  // namespace multipy::soak

int main(int count, char** words) {
  using namespace multipy::soak;
  try {
    Options options = parse({words + 1, words + count});
    if (options.seed == 0) options.seed = std::random_device()();
    if (options.list) {
      for (const Act& act : chosenActs(allActs(), options))
        std::printf("%s\n", std::string(act.name).c_str());
      return 0;
    }
    at::set_num_threads(1);
    // What torch.package warns of each time that it loads a tensor.
    setenv("PYTHONWARNINGS", "ignore:TypedStorage is deprecated", 1);
    endEarly();
    return Soak(options).run() ? 0 : 1;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "soak: %s\n%s", error.what(), kUsage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "soak: %s\n", error.what());
    return 1;
  }
}
