// The built-in module `_multipy_host`: what our Python code asks the host for.
//
//   slot                   this interpreter's number
//   module_source(name)    text given to registerModuleSource, or None
#pragma once

#include "interpreter/reference.h"

namespace multipy {

inline constexpr const char* kHostModuleName = "_multipy_host";
PyObject* initHostModule();

}  // namespace multipy
