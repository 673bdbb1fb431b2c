// numpy's arrays that cross without a pickle: an argument of a pool's call by the memory that the
// program has it in, a result by that of the interpreter. What numpy makes of it on the other side
// is what it makes of a pickle with the memory beside it. These are contiguous, of the machine's
// own numbers, and no subclass's.
//
// Threads: with the program's GIL.
#pragma once

#include <ATen/core/List.h>
#include <Python.h>

#include <cstdint>
#include <memory>

#include "crossing.h"

namespace multipy::host {

bool isArray(PyObject* object);

/// Those among the arguments of one call.
class ArrayArguments {
 public:
  /// False, without a Python exception, if this array does not cross as it is.
  bool take(std::int64_t position, PyObject* array);

  /// Of each array: its position among the arguments, the address, the size in bytes, whether it is
  /// read-only, by what the buffer is known here, the format (struct's, as a number), and how many
  /// dimensions there are, followed by these (_inside.py has the other side).
  const c10::List<std::int64_t>& facts() const { return facts_; }
  /// What keeps them for as long as the call lasts; null if there are none.
  const std::shared_ptr<Parcel>& parcel() const { return parcel_; }

 private:
  c10::List<std::int64_t> facts_;
  std::shared_ptr<Parcel> parcel_;
};

/// (memory, format, shape) of an answer that is an array: a new reference; null with a Python
/// exception.
PyObject* arrayOf(const Answer& answer);
/// Whether an answer is one.
bool isArray(const Answer& answer);

}  // namespace multipy::host
