// Names of CPython's C API, and the ones they have inside private copies.
//
// glibc looks into the global scope first, and the host program may have a
// CPython of its own there. So libinterpreter.so exports its C API as Pz*, and
// private copies ask for Pz*. (The second letter and not the first: linkers
// store PyX as the tail of _PyX, and one edit serves both.)
#pragma once

#include <string>
#include <string_view>

namespace multipy::loader {

/// "PyObject_Call", "Py_Initialize", "_Py_Dealloc", "_PyLong_New"; not "Pyramid".
inline bool isCApiName(std::string_view name) {
  if (name.starts_with('_')) name.remove_prefix(1);
  if (!name.starts_with("Py") || name.size() < 3) return false;
  return name[2] == '_' || (name[2] >= 'A' && name[2] <= 'Z');
}

/// "PyObject_Call" → "PzObject_Call", "_Py_Dealloc" → "_Pz_Dealloc". Only for C API names.
inline std::string privateCApiName(std::string_view name) {
  std::string changed(name);
  changed[name.starts_with('_') ? 2 : 1] = 'z';
  return changed;
}

/// "PzObject_Call", "_Pz_Dealloc": a C API name as libinterpreter.so exports it.
inline bool isPrivateCApiName(std::string_view name) {
  std::string original(name);
  const std::size_t letter = name.starts_with('_') ? 2 : 1;
  if (name.size() <= letter || name[letter] != 'z') return false;
  original[letter] = 'y';
  return isCApiName(original);
}

/// libpython3.11.so.1.0, libpython3.so: what an interpreter stands in for.
inline bool isLibPython(std::string_view fileName) {
  return fileName.starts_with("libpython3") && fileName.find(".so") != std::string_view::npos;
}

}  // namespace multipy::loader
