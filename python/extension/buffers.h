// Memory that one Python has and another one looks at, by reference, with what keeps it there.
//
//   HostBuffers    buffers of the program's objects, that a task has with it. What Python code in
//                  an interpreter keeps of one keeps the object: it is given up when that is
//                  collected, by some thread of the program's, with the program's GIL.
//   ResultMemory   buffers of an interpreter's objects, that a result has with it: a Python object
//                  of the program's, over which memoryviews and arrays are made. It keeps the
//                  interpreter as well.
//
// Threads: with the program's GIL, unless they say otherwise.
#pragma once

#include <Python.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/obj.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace multipy::host {

/// One buffer of the program's, for as long as it is held.
class HostBuffer {
 public:
  /// Held once. `flags` are PyObject_GetBuffer's. Null, with a Python exception, if `object` has no
  /// such buffer.
  static HostBuffer* of(PyObject* object, int flags = PyBUF_SIMPLE);

  const Py_buffer& view() const noexcept { return view_; }

  // From any thread, with any GIL or none; they take no lock and no memory.
  static void hold(void* buffer) noexcept;
  /// As often as it was held, and it is wanted no more.
  static void giveUp(void* buffer) noexcept;
  /// Releases what has been given up.
  static void releaseGivenUp() noexcept;

 private:
  Py_buffer view_{};
  std::atomic<int> holds_{1};
  HostBuffer* next_ = nullptr;
};

/// At its end what has been given up meanwhile is released.
struct GivenUpReleased {
  ~GivenUpReleased() { HostBuffer::releaseGivenUp(); }
};

/// What results' memory lies in: the worker keeps its interpreters, a session the one that it was,
/// and the object in it keeps the memory. They end in the opposite order.
struct ResultOwner {
  std::shared_ptr<void> worker;
  runtime::InterpreterSession session;
  runtime::Obj kept;
  ResultOwner(std::shared_ptr<void> of, runtime::InterpreterSession inside, runtime::Obj object)
      : worker(std::move(of)), session(std::move(inside)), kept(std::move(object)) {}
};

/// Makes the type; false with a Python exception.
bool initResultMemory();
/// A new reference; null with a Python exception.
PyObject* newResultMemory(std::shared_ptr<ResultOwner> owner, void* address, Py_ssize_t size,
                          bool isReadOnly);

}  // namespace multipy::host
