// What the C functions that Python calls have in common: they return a text where something has
// failed, and else null.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "integrations/triton/errors.h"

namespace multipy::triton {

/// The text of what was thrown last in this thread, for ctypes to make an object of at once: a
/// function returns to Python in the thread that called it.
std::string& toldText() noexcept;

/// Null, or the text of what `work` throws.
template <typename Work>
const char* told(const Work& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (...) {
    const OwnedError error = currentError();
    toldText() = TRITONSERVER_ErrorMessage(error.get());
    return toldText().c_str();
  }
}

/// Names of functions, and their addresses.
using FunctionTable = std::vector<std::pair<const char*, std::int64_t>>;

template <typename Function>
std::pair<const char*, std::int64_t> named(const char* name, Function* function) {
  return {name, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(function))};
}

}  // namespace multipy::triton
