// How a thread ends that wants the GIL of a Python which has been finalised: a daemon thread,
// mostly.
//
// CPython up to 3.13 ends it by pthread_exit(), which unwinds its stack; from 3.14 on it hangs for
// ever. As long as it exists, this library and the interpreter's memory cannot go, so it ends where
// it can: C functions are left without a trace. C++ and Rust functions are not. What they destroy
// on the way may need the GIL, and one that lets no exception out ends the process, as the
// destructor of pybind11::gil_scoped_release does, in which threads come back from torch's
// operators. With one of those on its stack a thread hangs.
#include "interpreter/libc/thread_ends.h"

#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdint>

#include "interpreter/common/exported.h"

extern "C" void PyEval_RestoreThread(void* mine);

namespace multipy {
namespace {

enum class Stack { OfC, OfOthers };

std::uintptr_t addressOf(auto* function) { return reinterpret_cast<std::uintptr_t>(function); }

// Frame by frame, from the innermost one. What has to be done when a frame is unwound, or that it
// may not be, is in its language-specific data; functions of C have none.
_Unwind_Reason_Code look(_Unwind_Context* frame, void* found) {
  const std::uintptr_t function = _Unwind_GetRegionStart(frame);
  if (function == addressOf(&runInInterpreter)) {
    *static_cast<Stack*>(found) = Stack::OfC;
    return _URC_END_OF_STACK;
  }
  if (function == addressOf(&PyEval_RestoreThread)) return _URC_NO_REASON;
  return _Unwind_GetLanguageSpecificData(frame) == nullptr ? _URC_NO_REASON : _URC_END_OF_STACK;
}

[[noreturn]] void endThisThread() {
  Stack stack = Stack::OfOthers;
  _Unwind_Backtrace(look, &stack);
  if (stack == Stack::OfC) pthread_exit(nullptr);
  for (;;) pause();
}

}  // namespace
}  // namespace multipy

// CPython's own of these names (Python/thread_pthread.h) are weak (cmake/RenameCApi.cmake). A
// thread of the host's never comes here: the host enters no interpreter that has been finalised.
extern "C" MULTIPY_EXPORT void PyThread_exit_thread() {
  multipy::endThisThread();
}  // up to CPython 3.13
extern "C" MULTIPY_EXPORT void PyThread_hang_thread() { multipy::endThisThread(); }  // from 3.14 on
