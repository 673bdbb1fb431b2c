// Py_AddPendingCall(), as extensions call it to have something done in Python's main thread.
//
// CPython lets that thread do it between two of its instructions. Here the main thread is the
// interpreter's owner, which sleeps: it is woken. (Until a thread does what is pending, all
// other threads of the interpreter look for it at each of their checks, in vain.)
//
// A call that waits for what another thread can only do with the owner's help waits for
// ever: the first import of threading is such a thing (_multipy_bootstrap.py).
//
// Threads: any, with or without the GIL, as the original.
#include <atomic>

#include "interpreter/common/host_connection.h"
#include "interpreter/common/reference.h"

/// CPython's own Py_AddPendingCall (cmake/RenameCApi.cmake).
extern "C" int multipyPythonsAddPendingCall(int (*call)(void*), void* argument);

namespace multipy {
namespace {

// The owner has been asked and has not begun yet: one task does all that is pending.
constinit std::atomic<bool> asked{false};

void makePendingCalls(void*) {
  asked.store(false);
  // An interpreter that is ending has done them by itself.
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  // One that fails ends it; those behind it are still to be made, and no other thread will ask.
  while (Py_MakePendingCalls() != 0) PyErr_WriteUnraisable(nullptr);
  PyGILState_Release(state);
}

}  // namespace
}  // namespace multipy

extern "C" int Py_AddPendingCall(int (*call)(void*), void* argument) {
  using namespace multipy;
  // A thread of a library's own may outlive Python, and the list went with it.
  if (!Py_IsInitialized()) return -1;
  const int added = multipyPythonsAddPendingCall(call, argument);
  if (added == 0 && !asked.exchange(true) &&
      !host()->postToOwner(host()->context, makePendingCalls, nullptr))
    asked.store(false);
  return added;
}
