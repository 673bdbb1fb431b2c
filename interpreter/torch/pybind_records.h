// What pybind11 keeps of each function that it has bound: a record, freed with the function.
//
// pybind11 3.0.0 and 3.0.1 (torch 2.9 to 2.12) give the getter of a property an argument "self"
// whose name is a literal in the library, and free that name with the record
// (https://github.com/pybind/pybind11/issues/5976). Programs that end without freeing what C++ has
// bound do not notice.
#pragma once

#include "interpreter/common/reference.h"

namespace multipy {

/// Gives the functions among `objects`, a list, argument names that may be freed, if this torch's
/// pybind11 frees them. With the GIL. Throws std::bad_alloc.
void ownArgumentNames(PyObject* objects);

}  // namespace multipy
