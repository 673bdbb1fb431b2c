// What CPython leaves of torch at its end is taken apart, so that torch's C++ objects are freed.
//
// Py_FinalizeEx() clears modules and collects garbage. What C variables still refer to (types,
// above all: torch has 1,500 of pybind11's) stays, with everything that hangs on it. In a
// process that exits this does not matter. Here interpreters come and go: the memory of Python
// objects is given back as a whole (heap.h), but what lies behind them in malloc()'s heap, such
// as pybind11's records of functions, parsed signatures and tensors, was 5 MB for each
// interpreter.
//
// So after CPython's own last collection these are emptied: the dictionaries of torch's types
// and of types that inherit from them, the attributes of their instances, and the namespaces of
// torch's modules. The objects stay what they are, with nothing in them: C code that has kept
// one can still release it. Python code does not run any more: callbacks of weak references are
// dropped first, and `__del__` is not found.
//
// Of torch alone: what no other program ever frees need not bear it. The binding of a scipy 1.17
// ends the process when the types that it has made are emptied, in plain Python as well.
//
// Not where a thread is left that Python has started: what it uses stays.
#pragma once

namespace multipy {

/// Before Py_FinalizeEx(), with the GIL.
void prepareLastCollection();

}  // namespace multipy
