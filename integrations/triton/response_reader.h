// A response as Python hands it over: one row of bytes, since that crosses in one call and needs no
// structure made in Python. python/_multipy_triton_requests.py writes it:
//
//   u32 outputs, u32 parameters, then
//   for each output     u32 length of name, u32 type, u32 dimensions, u32 0,
//                       u64 address, u64 bytes, i64 of each dimension, name
//   for each parameter  u32 length of key, u32 kind (0 text, 1 integer, 2 truth value),
//                       u64 length of text or value, key, text
//
// in the machine's own order of bytes, without padding.
//
// Threads: a plain function.
#pragma once

#include <string_view>

#include "integrations/triton/responder.h"

namespace multipy::triton {

/// TritonError (INTERNAL) where it ends too early or goes on behind its end: the Python code and
/// this library are not of the same version.
ResponseContent readResponse(std::string_view bytes);

}  // namespace multipy::triton
