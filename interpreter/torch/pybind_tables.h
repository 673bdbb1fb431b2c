// The tables of pybind11, which every extension made with it shares in an interpreter (torch's
// libtorch_python is one). They are never freed. When the types and instances in them have
// gone, their hash tables still have the size of the fullest moment.
#pragma once

namespace multipy {

/// Those of this interpreter, for shrinkPybindTables(). Before Py_FinalizeEx(), with the GIL.
void findPybindTables();

/// What is left in them stays. After everything that has used them.
void shrinkPybindTables();

}  // namespace multipy
