// Why CPython could not start, where its own status says only that it could not.
#pragma once

#include <string>

namespace multipy {

/// ": RuntimeError: text" of the exception that kept Python from finding its encodings;
/// empty if that was not the trouble.
const std::string& encodingsFailure();

}  // namespace multipy
