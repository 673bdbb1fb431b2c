// A tensor that crosses, which has to work.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <string>

#include "process/ownership.h"
#include "torch_bridge/tensors/tensor_transfer.h"

namespace multipy::routing {

inline at::Tensor cross(const at::Tensor& tensor, int owner = process::kNone) {
  std::string error;
  at::Tensor result = crossTensor(tensor, owner, error);
  EXPECT_EQ(error, "");
  return result;
}

}  // namespace multipy::routing
