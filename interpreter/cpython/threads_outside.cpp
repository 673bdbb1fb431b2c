#include "interpreter/cpython/threads_outside.h"

#include <unistd.h>

#include <chrono>
#include <cstddef>

#include "interpreter/common/python_version.h"
#include "interpreter/cpython/gil_priority.h"
#include "interpreter/cpython/gil_state.h"

extern "C" void __real__PzAtExit_Call(void* state);
extern "C" void __wrap__PzAtExit_Call(void* state);

namespace multipy {
namespace {

// Longer than nearly all operators take.
constexpr std::chrono::seconds kPatience{1};
// The switch interval meanwhile, and how long a thread that is back keeps the GIL, in microseconds:
// until the one that waits for all of them has asked it to give the GIL up. It does so before it
// can begin another operator.
constexpr unsigned long kInterval = 50;
constexpr useconds_t kStay = 1'000;
constexpr useconds_t kBetweenLooks = 100;

constinit thread_local bool isPythons = false;
// A count would not do: pybind11::gil_scoped_acquire takes the GIL in another way, and gives it up
// by PyEval_SaveThread again.
constinit thread_local bool isOutside = false;
constinit std::size_t outside = 0;
constinit bool ending = false;

void waitUntilNoneIsOutside() {
  if (outside == 0) return;
  ending = true;
  const unsigned long usual = multipySetSwitchInterval(kInterval);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    PyThreadState* const mine = giveUpGil();
    usleep(kBetweenLooks);
    takeGil(mine);
  } while (outside > 0 && std::chrono::steady_clock::now() < end);
  multipySetSwitchInterval(usual);
  ending = false;
}

}  // namespace

void thisThreadIsPythons() noexcept { isPythons = true; }

void threadIsBack() noexcept {
  if (!isOutside) return;
  isOutside = false;
  if (outside > 0) --outside;
  if (ending) [[unlikely]]
    usleep(kStay);
}

void forgetThreadsOutside() noexcept { outside = 0; }

}  // namespace multipy

extern "C" PyThreadState* PyEval_SaveThread() {
  using namespace multipy;
  if (isPythons && !isOutside) {
    isOutside = true;
    ++outside;
  }
  return giveUpGil();
}

// The last of Python's code that Py_FinalizeEx() calls before it ends daemon threads. (`state`
// is the thread's in CPython 3.10, and the interpreter's since.)
extern "C" void __wrap__PzAtExit_Call(void* state) {
  __real__PzAtExit_Call(state);
  multipy::waitUntilNoneIsOutside();
}
