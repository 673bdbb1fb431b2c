// Values that cross without a pickle: None, bool, int, float, str and plain tensors, and tuples,
// lists and dicts of these, which have str for keys. None is of a subclass: that would arrive as
// another type. What both sides could tell from a copy is left to pickle: an object that is in it
// twice, say.
//
// Threads: with the program's GIL.
#pragma once

#include <ATen/core/ivalue.h>
#include <Python.h>

#include <cstddef>
#include <vector>

#include "arrays.h"

namespace multipy::host {

/// Of the arguments of one call.
class DirectValues {
 public:
  /// False, without a Python exception, if `object` does not cross as it is.
  bool take(PyObject* object, at::IValue& value);
  /// numpy's arrays among them, which take() has left out.
  const ArrayArguments& arrays() const { return arrays_; }

 private:
  bool takeNested(PyObject* object, at::IValue& value);
  bool takeItems(PyObject* sequence, std::vector<at::IValue>& items);
  bool takeDict(PyObject* dict, at::IValue& value);
  bool isNew(PyObject* object);

  // More of them than that are what pickle is as fast with. (_inside.py has the same number.)
  static constexpr std::size_t kMost = 256;
  std::size_t size_ = 0;
  std::vector<PyObject*> seen_;  // that can be changed
  ArrayArguments arrays_;
};

/// A new reference; null with a Python exception. (Complex numbers are in the places of arrays.)
PyObject* objectOfDirect(const at::IValue& value);

}  // namespace multipy::host
