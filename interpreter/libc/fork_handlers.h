// What is done when this interpreter forks.
//
// Which handlers run. A fork in one interpreter runs the handlers of all that are
// registered in the process with pthread_atfork(), on the forking thread. Those of other
// interpreters' libraries have no business there: uvloop's takes its interpreter's GIL,
// which another thread holds, and in the child it is never given back. So in private
// copies the function is ours, and handlers run only in forks of their own interpreter.
//
// What the child finds. It has the forking thread only, and what another one held is held
// there for ever. So locks that such a child may come to are taken before and given back
// after, on both sides: the host's (HostServices::lockForFork), this interpreter's
// (fork_mutex.h), and last the one of the heap.
//
// When. The host calls us (process/fork_handlers.h). The C library runs the handlers of before a
// fork last registered first, and the host's is registered before there is any interpreter. Those
// of private libraries run before we take our locks, so with these held none of theirs runs:
// OpenBLAS's waits for its threads to end, and each of them takes a lock of ours on its way. All
// that forks comes here, forkpty() and C code of extensions included, but not vfork() and
// posix_spawn(), whose children exec.
#pragma once

namespace multipy {

/// Once, when the host has been connected.
void watchForks();

/// A library, known by its __dso_handle, is being unloaded.
void forgetForkHandlers(const void* library);

}  // namespace multipy
