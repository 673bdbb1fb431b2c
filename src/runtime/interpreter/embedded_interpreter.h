// The bytes of libinterpreter.so, which travel inside the program: the build
// puts them into the archive (cmake/EmbedFile.cmake).
#pragma once

#include <cstddef>
#include <span>

extern "C" {
__attribute__((visibility("hidden"))) extern const std::byte multipy_embedded_interpreter_begin[];
__attribute__((visibility("hidden"))) extern const std::byte multipy_embedded_interpreter_end[];
}

namespace multipy::runtime {

inline std::span<const std::byte> embeddedInterpreter() {
  return {multipy_embedded_interpreter_begin, multipy_embedded_interpreter_end};
}

}  // namespace multipy::runtime
