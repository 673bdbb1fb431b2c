#include "interpreter/hurry.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "interpreter/cpu_pause.h"
#include "interpreter/gil_state.h"
#include "interpreter/never_destroyed.h"

/// CPython's own PyEval_RestoreThread (cmake/RenameCApi.cmake).
extern "C" void multipyPythonsRestoreThread(PyThreadState* mine);

namespace multipy {
namespace {

constexpr unsigned long kInterval = 50;  // microseconds
constexpr std::chrono::milliseconds kLongestWait{5};
// Most are done sooner. A thread that sleeps for each of them is woken each time where
// the one in a hurry runs, whose next call then finds its core taken: every fiftieth one
// began up to 4 ms late, and every hundredth does with this.
constexpr std::chrono::microseconds kSpin{200};

// Whose thread is in a hurry, or null.
constinit std::atomic<PyThreadState*> inAHurry{nullptr};

// The switch interval as it was, while it is kInterval; else 0. Both are set under the
// mutex, and set back with the GIL: a fork has both.
constinit std::atomic<unsigned long> usualInterval{0};

struct Ended {
  std::mutex mutex;
  std::condition_variable changed;
};

Ended& ended() { return neverDestroyed<Ended>(); }

// With the GIL. What Python code has set meanwhile (sys.setswitchinterval) stays.
void setIntervalBack() {
  const unsigned long usual = usualInterval.exchange(0);
  if (usual == 0) return;
  const unsigned long now = multipySetSwitchInterval(usual);
  if (now != kInterval) multipySetSwitchInterval(now);
}

void takeSoon(PyThreadState* mine) {
  {
    const std::lock_guard lock(ended().mutex);
    usualInterval.store(multipySetSwitchInterval(kInterval));
  }
  multipyPythonsRestoreThread(mine);
  setIntervalBack();
}

bool nobodyIsInAHurry() { return inAHurry.load() == nullptr; }

bool spinUntilNobodyIs() {
  static const bool alone = std::thread::hardware_concurrency() == 1;
  if (alone) return false;
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (nobodyIsInAHurry()) return true;
      cpuPause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

void letPass() {
  if (spinUntilNobodyIs()) return;
  std::unique_lock lock(ended().mutex);
  ended().changed.wait_for(lock, kLongestWait, nobodyIsInAHurry);
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
  if (!inChild) return ended().mutex.unlock();
  inAHurry.store(nullptr);
  // The threads that wait there are not in the child, but are counted: the first
  // notification could wait for them to leave.
  new (&ended()) Ended;
  setIntervalBack();
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
