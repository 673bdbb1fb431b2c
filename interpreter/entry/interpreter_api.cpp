// The table that the host gets, and the functions in it that are too small for
// a file of their own.
#include "abi/interpreter_api.h"

#include <new>
#include <utility>

#include "interpreter/common/host_connection.h"
#include "interpreter/common/python_version.h"
#include "interpreter/common/reference.h"
#include "interpreter/cpython/call_threads.h"
#include "interpreter/cpython/gil_priority.h"
#include "interpreter/cpython/gil_state.h"
#include "interpreter/cpython/interrupts.h"
#include "interpreter/cpython/python_heap.h"
#include "interpreter/cpython/stacks.h"
#include "interpreter/entry/lifecycle.h"
#include "interpreter/libc/exit_functions.h"
#include "interpreter/libc/fork_handlers.h"
#include "interpreter/libc/threads.h"
#include "interpreter/values/objects.h"
#include "interpreter/values/values.h"

namespace multipy {
namespace {

void attach(const HostServices* services) {
  connectHost(services);
  watchForks();
}

void* threadState() { return PyGILState_GetThisThreadState(); }

// A state made for a thread is also what PyGILState_Ensure finds there, so that
// C code of extensions (pybind11's gil_scoped_acquire) reuses it.
void* newThreadState() { return PyThreadState_New(PyInterpreterState_Main()); }

void acquire(void* state) { takeGil(static_cast<PyThreadState*>(state)); }
void acquireWithPriority(void* state) { takeGilWithPriority(static_cast<PyThreadState*>(state)); }
void release() { giveUpGil(); }

bool holdsGil() {
  PyThreadState* mine = PyGILState_GetThisThreadState();
  return mine && mine == attachedThreadState();
}

bool gilIsFree() { return multipyGilIsFree() != 0; }

void discardThreadState(void* given) {
  auto* state = static_cast<PyThreadState*>(given);
  PyThreadState_Clear(state);
  forgetItsThread(state);
  PyThreadState_Delete(state);
}

bool interrupt(void* state) { return interruptThread(static_cast<PyThreadState*>(state)); }
bool takeInterruptBack(void* mine) {
  return takeInterruptBackFrom(static_cast<PyThreadState*>(mine));
}
bool interruptIsPending(void* state) {
  return interruptIsPendingIn(static_cast<PyThreadState*>(state));
}

NewReference newReference(BorrowedReference object) {
  return Reference::borrow(object.get()).give();
}
void giveUp(NewReference object) { const auto given = Reference::take(std::move(object)); }

// One that takes C++'s memory: where that is lacking, no Python error is left behind, which
// the next one to enter would find.
template <auto function>
struct NoErrorLeft;
template <class Result, class... Arguments, Result (*function)(Arguments...)>
struct NoErrorLeft<function> {
  static Result call(Arguments... arguments) {
    try {
      return function(std::forward<Arguments>(arguments)...);
    } catch (const std::bad_alloc&) {
      PyErr_Clear();
      throw;
    }
  }
};
template <auto function>
constexpr auto guarded = &NoErrorLeft<function>::call;

constexpr InterpreterApi::WithoutGil withoutGil = {
    .attach = attach,
    .initialize = initializeInterpreter,
    .finalize = finalizeInterpreter,
    .liveThreads = liveThreads,
    .runExitFunctions = runExitFunctions,
    .close = closeInterpreter,
    .writeStacks = writeStacks,
    .heapBytes = pythonHeapBytes,
    .threadState = threadState,
    .newThreadState = newThreadState,
    .acquire = acquire,
    .release = release,
    .holdsGil = holdsGil,
    .gilIsFree = gilIsFree,
    .acquireWithPriority = acquireWithPriority,
    .releaseWithPriority = giveUpGilWithPriority,
    .setCall = setCallOfThread,
    .wakeStartedBy = wakeThreadsOf,
};

constexpr InterpreterApi::WithGil withGil = {
    .collectStacks = guarded<collectStacks>,
    .discardThreadState = discardThreadState,
    .interrupt = interrupt,
    .takeInterruptBack = takeInterruptBack,
    .interruptIsPending = interruptIsPending,
    .interruptStartedBy = interruptThreadsOf,
    .newReference = newReference,
    .giveUp = giveUp,
    .global = guarded<globalObject>,
    .fromIValue = guarded<objectFromIValue>,
    .toIValue = guarded<objectToIValue>,
    .takeIValue = guarded<takeIValue>,
    .call = guarded<callObject>,
    .callIValues = guarded<callWithIValues>,
    .callToIValue = guarded<callToIValue>,
    .attr = guarded<objectAttribute>,
    .hasattr = guarded<objectHasAttribute>,
    .pickle = guarded<pickleObject>,
    .unpickle = guarded<unpickleObject>,
    .openPackage = guarded<openPackage>,
    .loadPickle = guarded<loadPackagedPickle>,
    .argumentNames = guarded<argumentNames>,
};

constexpr InterpreterApi api = {
    .version = kInterpreterApiVersion, .withoutGil = &withoutGil, .withGil = &withGil};

}  // namespace
}  // namespace multipy

extern "C" __attribute__((visibility("default"))) const multipy::InterpreterApi*
multipy_interpreter_api() {
  return &multipy::api;
}
