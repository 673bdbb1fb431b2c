// From a raised Python exception to the Failure that the host throws.
#pragma once

#include <string>

#include "abi/interpreter_api.h"
#include "interpreter/common/reference.h"

namespace multipy {

/// Takes the Python exception that is set and leaves none. Never runs into
/// trouble itself: what cannot be formatted is left empty.
void takePythonError(Failure& failure);

/// Takes a new reference over, or, where there is none, the exception that is set.
Reference taken(PyObject* newReference, Failure& failure);

/// A value that has no form on the other side.
void conversionFailure(Failure& failure, std::string message);

/// "module.Type", as Python prints it; builtins without the module.
std::string typeName(PyTypeObject* type);

/// str(object), or empty.
std::string textOf(PyObject* object);

}  // namespace multipy
