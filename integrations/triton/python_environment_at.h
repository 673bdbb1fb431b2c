// The Python environment that a model runs in.
#pragma once

#include <multipy/runtime/environment.h>

#include <memory>
#include <string>

namespace multipy::triton {

/// The one with this prefix; empty: the one that is active where the server was started.
std::shared_ptr<runtime::Environment> environmentAt(const std::string& prefix);

}  // namespace multipy::triton
