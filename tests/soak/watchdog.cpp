#include "watchdog.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "multipy/runtime/stacks.h"

namespace multipy::soak {

Watchdog::Watch::Watch(Watchdog& watchdog, int thread, std::string what)
    : watchdog_(watchdog), thread_(thread) {
  watchdog_.set(thread_, std::move(what));
}

Watchdog::Watch::~Watch() { watchdog_.set(thread_, {}); }

Watchdog::Watchdog(int threads, std::chrono::seconds longest)
    : longest_(longest),
      slots_(threads),
      looking_([this](const std::stop_token& stop) { look(stop); }) {}

void Watchdog::set(int thread, std::string what) {
  const std::lock_guard lock(mutex_);
  slots_[static_cast<std::size_t>(thread)] = {std::move(what), Clock::now()};
}

bool Watchdog::isStuck() {
  const std::lock_guard lock(mutex_);
  const auto oldest = Clock::now() - longest_;
  return std::ranges::any_of(
      slots_, [&](const Slot& slot) { return !slot.what.empty() && slot.since < oldest; });
}

void Watchdog::end() {
  {
    const std::lock_guard lock(mutex_);
    std::fprintf(stderr, "\nstuck: more than %ld s in one act. What threads are at:\n",
                 static_cast<long>(longest_.count()));
    for (std::size_t thread = 0; thread < slots_.size(); ++thread)
      if (!slots_[thread].what.empty())
        std::fprintf(stderr, "  thread %zu, for %.0f s: %s\n", thread,
                     std::chrono::duration<double>(Clock::now() - slots_[thread].since).count(),
                     slots_[thread].what.c_str());
  }
  try {
    runtime::StackDumpOptions options;
    options.patience = std::chrono::seconds(2);
    std::fprintf(stderr, "%s\n", runtime::toText(runtime::dumpStacks(options)).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "there are no stacks: %s\n", error.what());
  }
  std::_Exit(1);
}

void Watchdog::look(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (isStuck()) end();
  }
}

}  // namespace multipy::soak
