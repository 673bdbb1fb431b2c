// Tensors that go from one side to another, C++ or an interpreter. The essay is in
// tensor_transfer.cpp.
//
// Threads: all functions from any thread.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

#include <string>

namespace multipy::routing {

/// HostServices::crossTensor. `owner` is the slot the tensor comes from.
at::Tensor crossTensor(const at::Tensor& tensor, int owner, std::string& error);

/// Between the two, tensors that cross on this thread and have a storage in common
/// have the crossed one in common as well. May be nested.
void openCrossing();
void closeCrossing();

/// One block of bytes with sizes and strides, and nothing else that would have to be
/// looked at: no other layout, no wrapper, no subclass of TensorImpl, no metadata.
bool isPlain(const c10::TensorImpl& tensor);

}  // namespace multipy::routing
