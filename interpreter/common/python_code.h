// The files of interpreter/python/, compiled and embedded by the build
// (cmake/EmbedPythonCode.cmake).
#pragma once

#include <cstddef>

namespace multipy {

struct PythonCode {
  const char* name;  // the file's stem: "values" for python/values.py
  const char* data;  // a marshalled code object
  std::size_t size;
};

extern const PythonCode pythonCode[];
extern const std::size_t pythonCodeCount;
/// importlib.util.MAGIC_NUMBER of the Python that compiled them, as PyImport_GetMagicNumber().
extern const long pythonCodeMagic;

}  // namespace multipy
