// Our own Python code (interpreter/python/*.py), embedded in this library.
#pragma once

#include "interpreter/common/reference.h"

namespace multipy {

/// The module `name` of ours, executed once; null with a Python error. Not found by `import` of
/// others unless already in sys.modules.
Reference ourModule(const char* name);

/// `ourModule(module).function(...)`, borrowed and kept for the interpreter's life.
PyObject* ourFunction(const char* module, const char* function);

}  // namespace multipy
