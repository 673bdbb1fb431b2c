// What CPython leaves at its end is taken apart, so that its C++ objects are freed.
//
// Py_FinalizeEx() clears modules and collects garbage. What C variables still refer to (types,
// above all: torch has 1,500 of pybind11's) stays, with everything that hangs on it. In a
// process that exits this does not matter. Here interpreters come and go: the memory of Python
// objects is given back as a whole (heap.h), but what lies behind them in malloc()'s heap, such
// as pybind11's records of functions, parsed signatures and tensors, was 5 MB for each
// interpreter with torch.
//
// So after CPython's own last collection each container that is left is emptied: dictionaries
// (those of types, too), lists, sets, cells, instances of classes. Types, modules, functions
// and objects of extensions stay what they are, with nothing in them: C code that has kept one
// can still release it. Python code does not run any more: callbacks of weak references are
// dropped first, and `__del__` is not found.
//
// Not where a thread is left that Python has started: what it uses stays.
#pragma once

namespace multipy {

/// Before Py_FinalizeEx(), with the GIL.
void prepareLastCollection();

}  // namespace multipy
