// The built-in module `_multipy_host`: what our Python code asks the host for.
//
// What it has is listed at the end of host_module.cpp.
#pragma once

#include "interpreter/common/reference.h"

namespace multipy {

inline constexpr const char* kHostModuleName = "_multipy_host";
PyObject* initHostModule();

}  // namespace multipy
