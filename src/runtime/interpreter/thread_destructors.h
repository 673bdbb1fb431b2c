// Destructors of thread_local objects (C++, Rust) that private code has made on threads of others:
// the program's, which call into the interpreter, and the threads of shared libraries.
//
// Left to libc they run when the thread ends, and that may be after the interpreter has: then they
// would use a Python that is no more. Until they have run, libc also keeps the private copy loaded.
// So the host has them, and at the end of the thread it runs those whose interpreter still lives;
// its end waits for those that run. The others are dropped: their memory has gone with the
// interpreter's. (Threads that the interpreter has started end before it does, and are libc's
// concern: interpreter/libc/thread_destructors.cpp.)
//
// One per interpreter.
// Threads: all functions from any thread; close() with no GIL.
#pragma once

#include <memory>

#include "base/interpreter_id.h"
#include "runtime/interpreter/operation_gate.h"

namespace multipy::runtime {

class ThreadDestructors : public std::enable_shared_from_this<ThreadDestructors> {
 public:
  using Destroy = void (*)(void* object);

  explicit ThreadDestructors(InterpreterId slot) : slot_(slot) {}

  /// At the end of the calling thread, after what is added later. Throws bad_alloc.
  void add(Destroy destroy, void* object);
  /// Waits for those that run. No other one does from now on.
  void close() noexcept;

 private:
  class OfThread;

  void run(Destroy destroy, void* object) noexcept;

  const InterpreterId slot_;
  OperationGate gate_;  // destructors that run are inside
};

}  // namespace multipy::runtime
