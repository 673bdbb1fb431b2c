// The server's own log.
//
// Threads: any.
#pragma once

#include <source_location>
#include <string>

#include "integrations/triton/triton_api.h"

namespace multipy::triton {

void log(TRITONSERVER_LogLevel level, const std::string& message,
         std::source_location place = std::source_location::current()) noexcept;

}  // namespace multipy::triton
