// numpy's arrays that cross without a pickle, alone or among direct values (direct_values.h): those
// of a pool's call by the memory that the program has them in, those of a result by that of the
// interpreter. What numpy makes of it on the other side is what it makes of a pickle with the
// memory beside it. These are contiguous, of the machine's own numbers, and no subclass's.
//
// Threads: with the program's GIL.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>
#include <Python.h>

#include <cstdint>
#include <memory>

#include "crossing.h"

namespace multipy::host {

bool isArray(PyObject* object);

/// Those among the arguments of one call. In their places are complex numbers, which no other
/// argument is that crosses without a pickle: the array's index.
class ArrayArguments {
 public:
  /// False, without a Python exception, if this array does not cross as it is.
  bool take(PyObject* array, at::IValue& value);

  /// Of each array: the address, the size in bytes, whether it is read-only, by what the buffer is
  /// known here, the format (struct's, as a number), and how many dimensions there are, followed by
  /// these (_inside.py has the other side).
  const c10::List<std::int64_t>& facts() const { return facts_; }
  /// What keeps them for as long as the call lasts; null if there are none.
  const std::shared_ptr<Parcel>& parcel() const { return parcel_; }

 private:
  std::int64_t count_ = 0;
  c10::List<std::int64_t> facts_;
  std::shared_ptr<Parcel> parcel_;
};

/// Whether an answer has arrays in it: a value in which complex numbers are in their places, and
/// of each array the facts as above, without what the buffer is known by.
bool hasArrays(const Answer& answer);
/// (value, [(memory, format, shape), ...]) of such an answer: a new reference; null with a Python
/// exception.
PyObject* objectWithArrays(const Answer& answer);

}  // namespace multipy::host
