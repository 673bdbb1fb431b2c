#include "interpreter/cpython/gil_priority.h"

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "base/cpu_pause.h"
#include "base/mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/cpython/gil_state.h"

/// CPython's own PyEval_RestoreThread (cmake/RenameCApi.cmake).
extern "C" void multipyPythonsRestoreThread(PyThreadState* mine);

namespace multipy {
namespace {

constexpr unsigned long kInterval = 50;  // microseconds
constexpr std::chrono::milliseconds kLongestWait{5};
// Most are done sooner. A thread that sleeps for each of them is woken each time where
// the one with priority runs, whose next call then finds its core taken: every fiftieth one
// began up to 4 ms late, and every hundredth does with this.
constexpr std::chrono::microseconds kSpin{200};

// The thread that has priority, or null.
constinit std::atomic<PyThreadState*> withPriority{nullptr};

// The switch interval as it was, while it is kInterval; else 0. Both are set under the
// mutex, and set back with the GIL: a fork has both.
constinit std::atomic<unsigned long> usualInterval{0};

struct Ended {
  base::Mutex mutex;
  base::Condition changed;
};

Ended& ended() { return base::neverDestroyed<Ended>(); }

// With the GIL. What Python code has set meanwhile (sys.setswitchinterval) stays.
void setIntervalBack() {
  const unsigned long usual = usualInterval.exchange(0);
  if (usual == 0) return;
  const unsigned long now = multipySetSwitchInterval(usual);
  if (now != kInterval) multipySetSwitchInterval(now);
}

void takeSoon(PyThreadState* mine) {
  {
    const base::Lock lock(ended().mutex);
    usualInterval.store(multipySetSwitchInterval(kInterval));
  }
  multipyPythonsRestoreThread(mine);
  setIntervalBack();
}

bool noneHasPriority() { return withPriority.load() == nullptr; }

bool spinUntilNoneHas() {
  static const bool alone = std::thread::hardware_concurrency() == 1;
  if (alone) return false;
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (noneHasPriority()) return true;
      base::cpuPause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

void letPass() {
  if (spinUntilNoneHas()) return;
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  Ended& priority = ended();
  const base::Lock lock(priority.mutex);
  while (!noneHasPriority() && priority.changed.waitUntil(priority.mutex, end)) {
  }
}

}  // namespace

void takeGil(PyThreadState* mine) { multipyPythonsRestoreThread(mine); }

void takeGilWithPriority(PyThreadState* mine) {
  withPriority.store(mine);
  takeSoon(mine);
}

void giveUpGilWithPriority() {
  PyEval_SaveThread();
  {
    const base::Lock lock(ended().mutex);
    withPriority.store(nullptr);
  }
  ended().changed.notifyAll();
}

void lockPriorityForFork() MULTIPY_NO_THREAD_SAFETY_ANALYSIS { ended().mutex.lock(); }

void unlockPriorityAfterFork(bool inChild) MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
  if (!inChild) return ended().mutex.unlock();
  withPriority.store(nullptr);
  // The threads that wait there are not in the child, but are counted: the first
  // notification could wait for them to leave.
  new (&ended()) Ended;
  setIntervalBack();
}

}  // namespace multipy

extern "C" void PyEval_RestoreThread(PyThreadState* mine) {
  using namespace multipy;
  if (const PyThreadState* const other = withPriority.load(std::memory_order_relaxed))
      [[unlikely]] {
    if (other == mine) return takeSoon(mine);
    letPass();
  }
  multipyPythonsRestoreThread(mine);
}
