// What goes between the program's Python and interpreters, as C++ sees it: what Python code there
// is called with, and what it answers (python/multipy/_inside.py has the other side).
//
//   there   a parcel: address and size of a pickle; of each buffer beside it the address, the size,
//           whether it is read-only, and by what it is known here; the tensors
//   back    an answer, a tuple of four: whether it has raised; the pickle; of each buffer, which
//           the interpreter keeps for it, the address, the size and whether it is read-only; the
//           tensors. Or, of a pool's model, a value that needs no pickle (direct_values.h); in a
//           tuple of one, if it is a tuple, list or dict; in one of two, if there are arrays in it
//           (arrays.h).
//
// The program's GIL is given up for as long as an interpreter works, and never waited for by a
// thread that has an interpreter's.
//
// Threads: with the program's GIL, unless they say otherwise.
#pragma once

#include <ATen/core/ivalue.h>
#include <Python.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/call_options.h>
#include <multipy/runtime/call_outcome.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/replicated_obj.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "buffers.h"
#include "gil.h"

namespace multipy::host {

/// The module whose functions are called in interpreters (python/multipy/_inside.py).
inline constexpr const char* kInside = "_multipy_inside";

/// Of a std::shared_ptr, the last of which may go in any thread, with the program's GIL or without:
/// what has interpreters ends without it.
template <typename T>
struct DeletedWithoutGil {
  void operator()(T* object) const {
    if (PyGILState_Check()) {
      const GilReleased released;
      delete object;
    } else {
      delete object;
    }
  }
};

/// Adds the exceptions that calls end with. False with a Python exception.
bool addExceptions(PyObject* module);
/// As the Python exception that it is.
void setError(const std::exception& error);

/// Calls `work` without the GIL. False, with a Python exception, if it throws.
template <typename Work>
bool outside(Work&& work) {
  try {
    const GilReleased released;
    work();
    return true;
  } catch (const std::exception& error) {
    setError(error);
    return false;
  }
}

/// False with a Python exception.
bool stringsOf(PyObject* sequence, std::vector<std::string>& strings);
/// `seconds` from now, or none for None. False with a Python exception.
bool deadlineOf(PyObject* seconds, runtime::CallOptions& options);

/// Two strings each. False with a Python exception.
using Pairs = std::vector<std::pair<std::string, std::string>>;
bool pairsOf(PyObject* list, Pairs& pairs);
/// The environment variables that interpreters have, of pairs of name and value. False with a
/// Python exception.
bool variablesOf(PyObject* list, runtime::InterpreterOptions& options);
/// The program's own options, as subprocess._args_from_interpreter_flags() gives them. False with a
/// Python exception.
bool pythonOptionsOf(PyObject* list, runtime::InterpreterOptions& options);
/// Of slim_torch, slim_importers and slim_modules, in a tuple. False with a Python exception.
bool slimOf(PyObject* tuple, runtime::InterpreterOptions& options);
/// Registers the modules that interpreters have of the package, names and sources, and tells
/// kInside what it calls here. Without the GIL.
void registerSources(runtime::InterpreterManager& manager, const Pairs& sources);

/// A pickle and what lies beside it, for as long as the call lasts that it goes with. (What the
/// interpreter keeps of the buffers it holds itself.)
class Parcel {
 public:
  Parcel() = default;
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;
  ~Parcel();

  /// Of a Pickle (python/multipy/_crossing.py). Once. False with a Python exception.
  bool open(PyObject* pickle);
  /// A buffer that was held for it.
  void keep(HostBuffer* buffer);
  /// Gives the pickle up, where the interpreter's side has taken a copy. What is left ends without
  /// the GIL, too.
  void forgetPickle() { PyBuffer_Release(&data_); }
  /// What the interpreter's side takes, appended.
  void addTo(std::vector<at::IValue>& values) const;

 private:
  Py_buffer data_{};
  std::vector<HostBuffer*> buffers_;
  std::vector<at::IValue> tensors_;
};

/// What a call has come to.
struct Answer {
  at::IValue value;
  std::shared_ptr<ResultOwner> owner;  // of what the interpreter keeps for it, or null
};

/// Calls `object`, without the GIL. `worker` has the interpreters. Throws what the call throws.
Answer callThere(const runtime::ReplicatedObj& object, const std::vector<at::IValue>& values,
                 const runtime::CallOptions& options, std::shared_ptr<void> worker);
/// The same of a call that this thread has made: for ReplicatedObj::callThen().
Answer answerOf(runtime::CallOutcome outcome, std::shared_ptr<void> worker);
/// Over memory that the interpreter keeps for it: a new reference; null with a Python exception.
PyObject* resultMemoryOf(const Answer& answer, void* address, Py_ssize_t size, bool isReadOnly);
/// (raised, pickle, buffers, tensors): a new reference; null with a Python exception.
PyObject* objectOf(const Answer& answer);

}  // namespace multipy::host
