// Options of calls, before a call begins with them.
#pragma once

#include <cstddef>
#include <string>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/call_options.h"

namespace multipy::runtime {

/// Throws InvalidArgument for a priority that is none.
inline const CallOptions& checked(const CallOptions& options) {
  const auto priority = static_cast<std::size_t>(options.priority);
  if (priority < kCallPriorities) return options;
  throw InvalidArgument("CallOptions::priority is " +
                        std::to_string(static_cast<long long>(options.priority)) +
                        ", expected one of CallPriority's");
}

}  // namespace multipy::runtime
