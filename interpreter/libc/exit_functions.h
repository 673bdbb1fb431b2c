// What private libraries want done at the end of "their" process.
//
// A library registers with atexit(), and a C++ compiler with __cxa_atexit(), what is
// to be done at exit: above all destructors of static objects. A process runs them all,
// last registered first, while every library is still there. dlclose() does not: it
// runs those of one library and unmaps it, then goes on to the next. That is too late
// for a table in libA into which libB has put objects of its own classes (pyarrow's
// compute functions): their destructors are libB's code, which is gone. So in private
// copies these two functions are ours, and an interpreter ends like a process.
//
// Threads: as the originals.
#pragma once

namespace multipy {

/// Runs all that is registered, last first, also what is registered meanwhile.
void runExitFunctions();

}  // namespace multipy
