#include "interpreter/cpython/interrupts.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/common/reference.h"
#include "interpreter/cpython/async_exceptions.h"
#include "interpreter/cpython/stacks.h"

// CPython's own, and ours that stand in for them in CPython (cmake/RenameCApi.cmake).
extern "C" int __real_multipyPythonsCheckSignals();
extern "C" int __real_multipyPythonsMakePendingCalls();
extern "C" int __real_multipyPythonsMakePendingCallsOf(PyThreadState* mine);
extern "C" int __wrap_multipyPythonsCheckSignals();
extern "C" int __wrap_multipyPythonsMakePendingCalls();
extern "C" int __wrap_multipyPythonsMakePendingCallsOf(PyThreadState* mine);
#if MULTIPY_PYTHON_HANDLES_PENDING
extern "C" int __real__Pz_HandlePending(PyThreadState* mine);
extern "C" int __wrap__Pz_HandlePending(PyThreadState* mine);
#endif

namespace multipy {
namespace {

constexpr const char* kDescription =
    "The call that this code belongs to has been interrupted by the program.\n\n"
    "A BaseException, so that `except Exception` does not keep the call from ending.";

// Of importlib._bootstrap, CPython 3.10 to 3.14, without their classes. (From 3.12 on the threads
// that wait are in a table of weak references: its methods and callbacks are those from __new__
// on.)
constexpr std::string_view kTakeLocksOfImports[] = {
    "acquire",   "release", "__enter__", "__exit__", "_get_module_lock", "_lock_unlock_module",
    "cb",        "__new__", "__init__",  "remove",   "_commit_removals", "get",
    "setdefault"};

constinit PyObject* interruptedMade = nullptr;  // ends with this library
std::vector<PyThreadState*> notNow;             // have put interrupts off, each as often as it has

bool hasPutOff(PyThreadState* state) { return std::ranges::find(notNow, state) != notNow.end(); }

// As CPython raises it between two instructions. -1 with the exception, as both functions fail.
int raiseAsyncException() {
  PyThreadState* const mine = attachedThreadState();
  if (!mine || !multipyAsyncException(mine)) [[likely]]
    return 0;
  if (hasPutOff(mine)) return 0;
  if (PyErr_Occurred()) return 0;  // which that would replace; the next instruction is soon
  const auto exception = Reference::take(multipyTakeAsyncException(mine));
  PyErr_SetNone(exception.get());
  return -1;
}

/// Whether a thread is where such a lock is taken or given back.
bool takesLockOfImports(PyThreadState* state) {
  const runtime::StackFrame frame = topFrame(state);
  if (frame.file == "<multipy/_multipy_gates.py>") return true;
  if (frame.file != "<frozen importlib._bootstrap>") return false;
  const std::string name = frame.function.substr(frame.function.rfind('.') + 1);
  return std::ranges::find(kTakeLocksOfImports, name) != std::end(kTakeLocksOfImports);
}

bool isNotToBeInterrupted(PyThreadState* state) {
  return hasPutOff(state) || takesLockOfImports(state);
}

}  // namespace

PyObject* interruptedType() {
  if (!interruptedMade)
    interruptedMade = PyErr_NewExceptionWithDoc("multipy.Interrupted", kDescription,
                                                PyExc_BaseException, nullptr);
  return interruptedMade;
}

void putInterruptsOff() { notNow.push_back(attachedThreadState()); }

void allowInterrupts() {
  const auto mine = std::ranges::find(notNow, attachedThreadState());
  if (mine != notNow.end()) notNow.erase(mine);
}

bool interruptThread(PyThreadState* state) {
  if (isNotToBeInterrupted(state)) return false;
  PyObject* const exception = interruptedType();
  if (!exception) {
    PyErr_Clear();
    return false;
  }
  if (multipyAsyncException(state) != exception) multipySetAsyncException(state, exception);
  return true;
}

bool interruptIsPendingIn(PyThreadState* state) {
  return interruptedMade && multipyAsyncException(state) == interruptedMade;
}

bool takeInterruptBackFrom(PyThreadState* mine) {
  if (!interruptIsPendingIn(mine)) [[likely]]
    return false;
  const auto takenBack = Reference::take(multipyTakeAsyncException(mine));
  return true;
}

}  // namespace multipy

// --- what CPython calls

extern "C" int __wrap_multipyPythonsCheckSignals() {
  const int result = __real_multipyPythonsCheckSignals();
  return result != 0 ? result : multipy::raiseAsyncException();
}

extern "C" int __wrap_multipyPythonsMakePendingCalls() {
  const int result = __real_multipyPythonsMakePendingCalls();
  return result != 0 ? result : multipy::raiseAsyncException();
}

#if MULTIPY_PYTHON_MAKES_PENDING_CALLS_OF
extern "C" int __wrap_multipyPythonsMakePendingCallsOf(PyThreadState* mine) {
  const int result = __real_multipyPythonsMakePendingCallsOf(mine);
  return result != 0 ? result : multipy::raiseAsyncException();
}
#endif

#if MULTIPY_PYTHON_HANDLES_PENDING
// At each look of a thread at its eval breaker. (Taken out before it asks where the thread is: that
// calls functions which raise what is pending.)
extern "C" int __wrap__Pz_HandlePending(PyThreadState* mine) {
  if (!multipy::interruptIsPendingIn(mine)) [[likely]]
    return __real__Pz_HandlePending(mine);
  const auto interrupt = multipy::Reference::take(multipyTakeAsyncException(mine));
  const bool later = multipy::isNotToBeInterrupted(mine);
  if (!later) multipySetAsyncException(mine, interrupt.get());
  const int result = __real__Pz_HandlePending(mine);
  if (later && !multipyAsyncException(mine)) multipySetAsyncException(mine, interrupt.get());
  return result;
}
#endif

// --- what private libraries call

extern "C" int PyErr_CheckSignals() { return __wrap_multipyPythonsCheckSignals(); }
extern "C" int Py_MakePendingCalls() { return __wrap_multipyPythonsMakePendingCalls(); }
#if MULTIPY_PYTHON_MAKES_PENDING_CALLS_OF
extern "C" __attribute__((visibility("default"))) int _PyEval_MakePendingCalls(
    PyThreadState* mine) {
  return __wrap_multipyPythonsMakePendingCallsOf(mine);
}
#endif
