// From a Failure, which is how errors leave libinterpreter.so, to the exception
// that the user sees.
#pragma once

#include <string_view>

#include "abi/interpreter_api.h"

namespace multipy::runtime {

/// `wantedBy`: the package on whose behalf Python was running, or empty. It is
/// named in the error about a module that is not there.
[[noreturn]] void throwFailure(const Failure& failure, std::string_view wantedBy = {});

}  // namespace multipy::runtime
