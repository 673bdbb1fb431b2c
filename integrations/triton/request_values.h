// The requests of one batch as the values that Python gets
// (python/_multipy_triton_requests.py makes InferenceRequests of them).
//
// Threads: by the thread that executes.
#pragma once

#include <cstdint>
#include <memory>

#include "integrations/triton/open_request.h"

namespace c10 {
struct IValue;
}

namespace multipy::triton {

class RequestValues {
 public:
  RequestValues();
  RequestValues(RequestValues&&) noexcept;
  ~RequestValues();

  /// Adds a request, which Python calls by this number; the first dimension of its first input is
  /// returned, or 1 where it has none. TritonError where the server does not tell, or an input
  /// cannot be read: nothing is added then.
  std::uint64_t add(OpenRequest& request, std::uint64_t number, bool copyInputs);

  bool empty() const noexcept;
  /// All of them, a tuple; none is left here.
  c10::IValue take();

 private:
  struct Elements;
  std::unique_ptr<Elements> elements_;
};

}  // namespace multipy::triton
