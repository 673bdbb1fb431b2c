// A response as Python hands it over: one row of bytes (rows.h), since that crosses in one call and
// needs no structure made in Python. python/_multipy_triton_requests.py writes it:
//
//   u32 outputs, u32 parameters, then the outputs, a tensor each, and the parameters
//
// Threads: a plain function.
#pragma once

#include <string_view>

#include "integrations/triton/responder.h"

namespace multipy::triton {

/// TritonError (INTERNAL) where it cannot be read.
ResponseContent readResponse(std::string_view bytes);

}  // namespace multipy::triton
