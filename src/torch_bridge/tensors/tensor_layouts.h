// Tensors that consist of more than one block of bytes, and their transfer:
// compressed sparse, COO, nested, quantized. See tensor_transfer.cpp.
#pragma once

#include <ATen/core/Tensor.h>

namespace multipy::bridge {

/// How plain parts cross.
class PartTransfer {
 public:
  /// A fresh strided tensor over the same bytes.
  virtual at::Tensor tensor(const at::Tensor& part) = 0;
  /// A fresh storage over the same bytes.
  virtual c10::Storage storage(const c10::TensorImpl& of) = 0;

 protected:
  ~PartTransfer() = default;
};

/// `tensor`, which may be of any layout but those of wrappers, made anew of transferred
/// parts; without its gradient. May throw c10::Error.
at::Tensor transferLayout(const at::Tensor& tensor, PartTransfer& parts);

}  // namespace multipy::bridge
