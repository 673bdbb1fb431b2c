// A tensor that crosses, which has to work.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <string>

#include "torch/ownership.h"
#include "torch/torch_router.h"

namespace multipy::routing {

inline at::Tensor cross(const at::Tensor& tensor, int owner = kNone) {
  std::string error;
  at::Tensor result = crossTensor(tensor, owner, error);
  EXPECT_EQ(error, "");
  return result;
}

}  // namespace multipy::routing
