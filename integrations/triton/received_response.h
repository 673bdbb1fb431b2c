// A response of another model, as Python gets it.
//
// Threads: made by a thread of the server's; then a value that does not change.
#pragma once

#include <memory>
#include <string>

#include "integrations/triton/triton_api.h"

namespace multipy::triton {

class ReceivedResponse {
 public:
  /// Takes the response over: its outputs' memory is there as long as this. Null: there is no more
  /// than that it is the last one.
  ReceivedResponse(TRITONSERVER_InferenceResponse* response, bool isLast);
  bool isLast() const noexcept { return isLast_; }

  /// For Python (python/_multipy_triton_calls.py):
  ///
  ///   u32 outputs, u32 parameters, u32 flags (1: the last one, 2: nothing but that), u32 has it an
  ///   error, u64 the error's code, the error's text, the outputs, a tensor each, the parameters
  const std::string& row() const noexcept { return row_; }

 private:
  struct Delete {
    void operator()(TRITONSERVER_InferenceResponse* response) const noexcept;
  };
  const std::unique_ptr<TRITONSERVER_InferenceResponse, Delete> response_;
  const bool isLast_;
  std::string row_;
};

/// What makes room for the outputs of responses: in the CPU's memory. The process's one, never
/// deleted.
TRITONSERVER_ResponseAllocator* responseAllocator();

}  // namespace multipy::triton
