// Extensions that give up their last reference to an object when Python has ended.
//
// A `static py::object` of a library is destroyed as the library ends, after Py_FinalizeEx(). What
// deallocates an object then asks for the thread's state, of which there is none: CPython ends the
// process (3.10), or reads from a null pointer (later ones). Programs that embed one Python see it
// as they exit, if ever. Here interpreters end all the time, and the object stays as it is: its
// memory goes with the interpreter's.
//
// Threads: any, as the originals.
#include "interpreter/cpython/late_deallocations.h"

#include <atomic>

#include "interpreter/common/reference.h"

/// CPython's own _Py_Dealloc (cmake/RenameCApi.cmake), which its own code calls at once.
extern "C" void multipyPythonsDealloc(PyObject* object);

namespace multipy {
namespace {

constinit std::atomic<bool> ended{false};

}  // namespace

void endDeallocations() noexcept { ended.store(true, std::memory_order_relaxed); }

}  // namespace multipy

extern "C" void _Py_Dealloc(PyObject* object) {
  if (!multipy::ended.load(std::memory_order_relaxed)) [[likely]]
    multipyPythonsDealloc(object);
}

// What Py_DECREF() calls where an extension is for more than one version of CPython.
extern "C" void _Py_DecRef(PyObject* object) { Py_DECREF(object); }
extern "C" void Py_DecRef(PyObject* object) { Py_XDECREF(object); }
