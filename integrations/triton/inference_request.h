// A request of a model to another one (InferenceRequest.exec() in Python), before it is sent.
//
// Threads: plain values and functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "integrations/triton/rows.h"

namespace multipy::triton {

struct InferenceRequest {
  std::string model;
  std::int64_t version = -1;  // -1: the server's choice
  bool decoupled = false;     // several responses are taken, or none
  std::string id;
  std::variant<std::uint64_t, std::string> correlationId;
  std::uint32_t flags = 0;
  std::uint64_t timeout = 0;  // microseconds; 0: none
  /// In the RequestTable, the request whose trace goes on in this one; 0: none.
  std::uint64_t traceOf = 0;
  std::vector<TensorRow> inputs;  // their bytes are Python's
  std::vector<std::string> outputs;
  Parameters parameters;
};

/// From Python (python/_multipy_triton_calls.py), a row of bytes:
///
///   i64 version, u64 timeout, u64 traceOf, u64 correlation id, u32 has it a text instead,
///   u32 flags, u32 decoupled, u32 inputs, u32 outputs, u32 parameters, then the texts model, id,
///   correlation id, the inputs, a tensor each, the outputs' names, a text each, the parameters
///
/// TritonError (INTERNAL) where it cannot be read.
InferenceRequest readInferenceRequest(std::string_view bytes);

}  // namespace multipy::triton
