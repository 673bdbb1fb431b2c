// A tensor that crosses, which has to work.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <string>

#include "base/interpreter_id.h"
#include "process/ownership.h"
#include "torch_bridge/tensors/tensor_transfer.h"

namespace multipy::bridge {

inline at::Tensor transfer(const at::Tensor& tensor, InterpreterId owner = InterpreterId::none()) {
  std::string error;
  at::Tensor result = transferTensor(tensor, owner, error);
  EXPECT_EQ(error, "");
  return result;
}

}  // namespace multipy::bridge
