// Calls with priority: they do not wait for a much longer one in the same interpreter.
//
// CPython lets a thread that wants the GIL wait for 5 ms before it asks for it, and the
// thread that had it takes it back as soon as the other one gives it up around an
// operator of torch: a call of ten operators would wait ten times. One with priority
//   - asks for the GIL after 50 us,
//   - and until it has left, other threads that come back from an operator, or from
//     other C code of a private library, stay outside: PyEval_RestoreThread, as private
//     libraries know it, is ours. They wait no longer than CPython's 5 ms, since the call
//     may be waiting for one of them.
//
// Threads that do something short for the host, as to interrupt a call, have it as well: a thread
// that makes one call after the other, each shorter than CPython's 5 ms, takes the GIL back each
// time before one that waits has woken.
//
// Threads: all functions by any thread that has a state here. Several may have priority at once;
// none comes before another one then.
#pragma once

#include "interpreter/common/python_version.h"

namespace multipy {

/// Takes the GIL, as CPython's PyEval_RestoreThread does, until giveUpGil(), which returns `mine`.
void takeGil(PyThreadState* mine);
PyThreadState* giveUpGil();
/// The same with priority, until giveUpGilWithPriority().
void takeGilWithPriority(PyThreadState* mine);
void giveUpGilWithPriority();

/// Around a fork: no call has priority in the child, where the threads that would wait for the
/// end of it are not.
void lockPriorityForFork();
void unlockPriorityAfterFork(bool inChild);

}  // namespace multipy
