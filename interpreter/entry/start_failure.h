// Why CPython could not start, where its own status says only that it could not.
#pragma once

#include <string>

namespace multipy {

/// ": RuntimeError: text" of the exception that a start of CPython has ended with, which
/// is taken; empty if there was none.
std::string takeStartException();

}  // namespace multipy
