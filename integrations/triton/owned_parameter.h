// A parameter of Triton's, as one gives it to the server.
#pragma once

#include <memory>

#include "integrations/triton/triton_api.h"

namespace multipy::triton {

struct DeleteParameter {
  void operator()(TRITONSERVER_Parameter* parameter) const noexcept {
    TRITONSERVER_ParameterDelete(parameter);
  }
};
using OwnedParameter = std::unique_ptr<TRITONSERVER_Parameter, DeleteParameter>;

}  // namespace multipy::triton
