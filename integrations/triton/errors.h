// Errors on the way between Triton and this backend: Triton's come as TritonError, and what is
// thrown here goes to Triton with its text and the code that says most.
//
// Threads: plain functions and values; any thread.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "integrations/triton/triton_api.h"

namespace multipy::triton {

/// An error with the code that Triton's clients get.
class TritonError : public std::runtime_error {
 public:
  TritonError(TRITONSERVER_Error_Code code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  TRITONSERVER_Error_Code code() const noexcept { return code_; }

 private:
  TRITONSERVER_Error_Code code_;
};

/// Throws it as a TritonError, and deletes it; null is no error. `doing` is what was being done.
void check(TRITONSERVER_Error* error, const char* doing);

/// Deletes it, and writes it into the server's log: for what no caller is left to be told.
void logIfError(TRITONSERVER_Error* error, const char* doing) noexcept;

struct DeleteError {
  void operator()(TRITONSERVER_Error* error) const noexcept { TRITONSERVER_ErrorDelete(error); }
};
using OwnedError = std::unique_ptr<TRITONSERVER_Error, DeleteError>;

/// The exception that is being handled, as Triton's error, with `before` before its text. Only in a
/// catch block.
OwnedError currentError(const std::string& before = {}) noexcept;

/// What Triton's entry points return: `work`'s error, or null.
template <typename Work>
TRITONSERVER_Error* guarded(const Work& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (...) {
    return currentError().release();
  }
}

}  // namespace multipy::triton
