// The kernel that an operator has at a key, as torch.library.get_kernel() hands it out: from torch
// 2.9 on.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>
#include <new>
#include <string>

#include "torch_bridge/symbols/torch_features.h"

namespace multipy::bridge::feature {

#if MULTIPY_TORCH_COMPUTED_KERNELS
/// Makes a c10::SafeKernelFunction of it at `place`, which is told when `kernel` ends.
inline void makeComputedKernel(void* place, const c10::KernelFunction& kernel,
                               const c10::OperatorHandle& op) {
  new (place) c10::SafeKernelFunction(&kernel, c10::toString(op.operator_name()),
                                      std::make_shared<c10::OperatorHandle>(op));
}
#else
/// Not called: what it is for is not there.
inline void makeComputedKernel(void*, const c10::KernelFunction&, const c10::OperatorHandle&) {}
#endif

}  // namespace multipy::bridge::feature
