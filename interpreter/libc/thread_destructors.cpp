// Destructors of thread_local objects, which compilers register by __cxa_thread_atexit() (C++) and
// __cxa_thread_atexit_impl() (Rust, and the former).
//
// A thread that this interpreter has started ends before it does, so libc may have those. The
// others may outlive it: the host has theirs (src/runtime/interpreter/thread_destructors.h).
//
// Threads: any.
#include "interpreter/common/exported.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/libc/threads.h"

extern "C" {

int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library);

// Private copies of libraries call these in place of the ones without "multipy_".
MULTIPY_EXPORT int multipy___cxa_thread_atexit_impl(void (*destroy)(void*), void* object,
                                                    void* library) {
  if (multipy::startedHere()) return __cxa_thread_atexit_impl(destroy, object, library);
  const auto* host = multipy::host();
  return host->atThreadEnd(host->context, destroy, object) ? 0 : -1;
}

MULTIPY_EXPORT int multipy___cxa_thread_atexit(void (*destroy)(void*), void* object,
                                               void* library) {
  return multipy___cxa_thread_atexit_impl(destroy, object, library);
}

}  // extern "C"
