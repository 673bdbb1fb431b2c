#include "interpreter/hurry.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "interpreter/gil_state.h"
#include "interpreter/never_destroyed.h"

/// CPython's own PyEval_RestoreThread (cmake/RenameCApi.cmake).
extern "C" void multipyPythonsRestoreThread(PyThreadState* mine);

namespace multipy {
namespace {

constexpr unsigned long kInterval = 50;  // microseconds
constexpr std::chrono::milliseconds kLongestWait{5};

// Whose thread is in a hurry, or null.
constinit std::atomic<PyThreadState*> inAHurry{nullptr};

struct Ended {
  std::mutex mutex;
  std::condition_variable changed;
};

Ended& ended() { return neverDestroyed<Ended>(); }

void takeSoon(PyThreadState* mine) {
  const unsigned long usual = multipySetSwitchInterval(kInterval);
  multipyPythonsRestoreThread(mine);
  // With the GIL. What Python code has set meanwhile (sys.setswitchinterval) stays.
  const unsigned long now = multipySetSwitchInterval(usual);
  if (now != kInterval) multipySetSwitchInterval(now);
}

void letPass() {
  std::unique_lock lock(ended().mutex);
  ended().changed.wait_for(lock, kLongestWait, [] { return inAHurry.load() == nullptr; });
}

}  // namespace

void takeGil(PyThreadState* mine) { multipyPythonsRestoreThread(mine); }

void takeGilInAHurry(PyThreadState* mine) {
  inAHurry.store(mine);
  takeSoon(mine);
}

void giveUpGilInAHurry() {
  PyEval_SaveThread();
  {
    const std::lock_guard lock(ended().mutex);
    inAHurry.store(nullptr);
  }
  ended().changed.notify_all();
}

void lockHurryForFork() { ended().mutex.lock(); }

void unlockHurryAfterFork(bool inChild) {
  if (inChild) inAHurry.store(nullptr);
  ended().mutex.unlock();
}

}  // namespace multipy

extern "C" void PyEval_RestoreThread(PyThreadState* mine) {
  using namespace multipy;
  if (const PyThreadState* const other = inAHurry.load(std::memory_order_relaxed)) [[unlikely]] {
    if (other == mine) return takeSoon(mine);
    letPass();
  }
  multipyPythonsRestoreThread(mine);
}
