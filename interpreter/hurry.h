// Calls that shall not wait for a much longer one in the same interpreter.
//
// CPython lets a thread that wants the GIL wait for 5 ms before it asks for it, and the
// thread that had it takes it back as soon as the other one gives it up around an
// operator of torch: a call of ten operators would wait ten times. One that is in a hurry
//   - asks for the GIL after 50 us,
//   - and until it has left, other threads that come back from an operator, or from
//     other C code of a private library, stay outside: PyEval_RestoreThread, as private
//     libraries know it, is ours. They wait no longer than CPython's 5 ms, since the call
//     may be waiting for one of them.
//
// Threads: all functions by any thread that has a state here; one call in a hurry at a
// time.
#pragma once

#include "interpreter/python_version.h"

namespace multipy {

/// Takes the GIL, as PyEval_RestoreThread does.
void takeGil(PyThreadState* mine);
/// The same in a hurry, which is over with giveUpGilInAHurry().
void takeGilInAHurry(PyThreadState* mine);
void giveUpGilInAHurry();

/// Around a fork: nobody is in a hurry in the child, where those who would wait for the
/// end of it are not.
void lockHurryForFork();
void unlockHurryAfterFork(bool inChild);

}  // namespace multipy
