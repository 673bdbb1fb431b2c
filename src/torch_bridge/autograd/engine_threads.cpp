#include "torch_bridge/autograd/engine_threads.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <new>
#include <vector>

#include "base/fork_mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"

namespace multipy::bridge {
namespace {

// As long as torch waits for them, when it does.
constexpr int kPatienceMs = 10'000;

struct Threads {
  base::ForkMutex lock;
  PerInterpreter<std::vector<pid_t>> bySlot MULTIPY_GUARDED_BY(lock);
  PerInterpreter<bool> unknown MULTIPY_GUARDED_BY(lock){};  // there was one more
  static Threads& process() {
    static auto* const one = new Threads;
    return *one;
  }
};

bool exists(pid_t thread) noexcept {
  std::array<char, 40> path;  // asked at the end of an interpreter, which takes no memory
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d", static_cast<int>(thread));
  return ::access(path.data(), F_OK) == 0;
}

}  // namespace

void noteEngineThread(InterpreterId slot) {
  if (!slot.isInterpreter()) return;
  Threads& threads = Threads::process();
  const base::Lock guard(threads.lock);
  try {
    threads.bySlot[slot].push_back(::gettid());
  } catch (const std::bad_alloc&) {
    threads.unknown[slot] = true;  // so the interpreter's libraries stay
  }
}

std::size_t engineThreads(InterpreterId slot) {
  if (!slot.isInterpreter()) return 0;
  Threads& threads = Threads::process();
  const base::Lock guard(threads.lock);
  std::erase_if(threads.bySlot[slot], [](pid_t thread) { return !exists(thread); });
  return threads.bySlot[slot].size() + (threads.unknown[slot] ? 1 : 0);
}

void waitForEngineThreads(InterpreterId slot) {
  for (int left = kPatienceMs; left > 0 && engineThreads(slot) > 0; --left) ::usleep(1000);
}

}  // namespace multipy::bridge
