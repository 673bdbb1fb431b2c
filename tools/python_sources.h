// Python files, embedded by the build (cmake/EmbedPython.cmake).
#pragma once

#include <cstddef>

namespace multipy {

struct PythonSource {
  const char* name;  // the file's stem: "values" for python/values.py
  const char* text;  // UTF-8, ends with a zero byte
  std::size_t size;  // without that zero
};

extern const PythonSource pythonSources[];
extern const std::size_t pythonSourceCount;

}  // namespace multipy
