// dlopen() whose library may throw.
//
// A static initialiser that throws an exception ends a program of C++ while it starts. Where a
// program opens the library itself and catches the exception, ld.so is left in the middle of
// dlopen(): the library stays, its other initialisers are not run, and the lock that ld.so holds
// over all that loads, unloads and looks up is held by this thread for ever. All other threads
// would wait for it at their next dlopen(), dlsym() or dlclose(). Here it is given back.
//
// Threads: from any thread.
#pragma once

namespace multipy::loader {

/// As dlopen(). Throws what a static initialiser has thrown.
void* openObject(const char* file, int flags);

}  // namespace multipy::loader
