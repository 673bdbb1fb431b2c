#include "interpreter/cpython/gil_priority.h"

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "base/cpu_pause.h"
#include "base/mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/cpython/gil_state.h"
#include "interpreter/cpython/threads_outside.h"

/// CPython's own (cmake/RenameCApi.cmake).
extern "C" PyThreadState* multipyPythonsSaveThread();
extern "C" void multipyPythonsRestoreThread(PyThreadState* mine);

namespace multipy {
namespace {

constexpr unsigned long kInterval = 50;  // microseconds
constexpr std::chrono::milliseconds kLongestWait{5};
// Most are done sooner. A thread that sleeps for each of them is woken each time where
// the one with priority runs, whose next call then finds its core taken: every fiftieth one
// began up to 4 ms late, and every hundredth does with this.
constexpr std::chrono::microseconds kSpin{200};

// How many threads have priority, and whether this one does.
constinit std::atomic<int> withPriority{0};
constinit thread_local bool hasPriority = false;

// Of the threads with priority that wait for the GIL. A fork has the mutex.
struct Waiting {
  base::Mutex mutex;
  base::Condition ended;  // a thread's priority has
  int threads MULTIPY_GUARDED_BY(mutex) = 0;
  // The switch interval as it was, while there are threads; it is kInterval then.
  unsigned long usualInterval MULTIPY_GUARDED_BY(mutex) = 0;

  void begin() {
    const base::Lock lock(mutex);
    if (++threads == 1) usualInterval = multipySetSwitchInterval(kInterval);
  }
  void end() {
    const base::Lock lock(mutex);
    if (--threads == 0) setIntervalBack();
  }
  // What Python code has set meanwhile (sys.setswitchinterval) stays.
  void setIntervalBack() MULTIPY_REQUIRES(mutex) {
    const unsigned long now = multipySetSwitchInterval(usualInterval);
    if (now != kInterval) multipySetSwitchInterval(now);
  }
};

Waiting& waiting() { return base::neverDestroyed<Waiting>(); }

void takeSoon(PyThreadState* mine) {
  waiting().begin();
  multipyPythonsRestoreThread(mine);
  waiting().end();
}

bool noneHasPriority() { return withPriority.load() == 0; }

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
  Waiting& priority = waiting();
  const base::Lock lock(priority.mutex);
  while (!noneHasPriority() && priority.ended.waitUntil(priority.mutex, end)) {
  }
}

}  // namespace

void takeGil(PyThreadState* mine) { multipyPythonsRestoreThread(mine); }

PyThreadState* giveUpGil() { return multipyPythonsSaveThread(); }

void takeGilWithPriority(PyThreadState* mine) {
  hasPriority = true;
  withPriority.fetch_add(1);
  takeSoon(mine);
}

void giveUpGilWithPriority() {
  giveUpGil();
  {
    const base::Lock lock(waiting().mutex);
    withPriority.fetch_sub(1);
    hasPriority = false;
  }
  waiting().ended.notifyAll();
}

void lockPriorityForFork() MULTIPY_NO_THREAD_SAFETY_ANALYSIS { waiting().mutex.lock(); }

void unlockPriorityAfterFork(bool inChild) MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
  if (!inChild) return waiting().mutex.unlock();
  if (waiting().threads > 0) waiting().setIntervalBack();
  withPriority.store(hasPriority ? 1 : 0);
  // The threads that wait there are not in the child, but are counted: the first
  // notification could wait for them to leave.
  new (&waiting()) Waiting;
}

}  // namespace multipy

extern "C" void PyEval_RestoreThread(PyThreadState* mine) {
  using namespace multipy;
  if (withPriority.load(std::memory_order_relaxed) == 0) [[likely]] {
    takeGil(mine);
  } else if (hasPriority) {
    takeSoon(mine);
  } else {
    letPass();
    takeGil(mine);
  }
  threadIsBack();
}
