// Tensors that go from one side to another, C++ or an interpreter. The essay is in
// tensor_transfer.cpp.
//
// Threads: all functions from any thread.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

#include <string>

#include "base/interpreter_id.h"

namespace multipy::bridge {

/// HostServices::transferTensor. `owner` is the slot the tensor comes from.
at::Tensor transferTensor(const at::Tensor& tensor, InterpreterId owner, std::string& error);

/// Between the two, tensors that cross on this thread and have a storage in common
/// have the transferred one in common as well. May be nested.
void beginTransferGroup();
void endTransferGroup();

/// One block of bytes with sizes and strides, and nothing else that would have to be
/// looked at: no other layout, no wrapper, no subclass of TensorImpl, no metadata.
bool isPlain(const c10::TensorImpl& tensor);

}  // namespace multipy::bridge
