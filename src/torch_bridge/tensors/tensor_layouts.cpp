#include "torch_bridge/tensors/tensor_layouts.h"

#include <ATen/NestedTensorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/_sparse_compressed_tensor_unsafe.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>

namespace multipy::bridge {
namespace {

at::Tensor transferCoo(const at::Tensor& tensor, PartTransfer& parts) {
  at::Tensor result = at::_sparse_coo_tensor_unsafe(parts.tensor(tensor._indices()),
                                                    parts.tensor(tensor._values()), tensor.sizes());
  result._coalesced_(tensor.is_coalesced());
  return result;
}

at::Tensor transferCompressed(const at::Tensor& tensor, PartTransfer& parts) {
  const bool byRows = tensor.layout() == c10::kSparseCsr || tensor.layout() == c10::kSparseBsr;
  return at::_sparse_compressed_tensor_unsafe(
      parts.tensor(byRows ? tensor.crow_indices() : tensor.ccol_indices()),
      parts.tensor(byRows ? tensor.col_indices() : tensor.row_indices()),
      parts.tensor(tensor.values()), tensor.sizes(), tensor.options());
}

// Sizes and offsets are tensors that Python can ask for, so they are not shared.
at::Tensor transferNested(const at::Tensor& tensor, PartTransfer& parts) {
  const auto& from =
      *static_cast<const at::native::NestedTensorImpl*>(tensor.unsafeGetTensorImpl());
  auto made = c10::make_intrusive<at::native::NestedTensorImpl>(
      parts.storage(from), from.key_set(), from.dtype(), from.get_nested_sizes().clone(),
      from.get_nested_strides().clone(), from.get_storage_offsets().clone());
  made->set_version_counter(from.version_counter());
  return at::Tensor(std::move(made));
}

// The quantizer of whole tensors holds numbers; that of channels holds tensors,
// which Python can ask for.
at::Tensor transferQuantized(const at::Tensor& tensor, PartTransfer& parts) {
  at::Tensor result = parts.tensor(tensor);
  const at::QuantizerPtr quantizer = at::get_qtensorimpl(tensor)->quantizer();
  if (quantizer->qscheme() == c10::kPerTensorAffine) return result;
  const auto& channels = static_cast<const at::PerChannelAffineQuantizer&>(*quantizer);
  const at::Tensor scales = parts.tensor(channels.scales());
  const at::Tensor zeroPoints = parts.tensor(channels.zero_points());
  at::QuantizerPtr own;
  if (quantizer->qscheme() == c10::kPerChannelAffineFloatQParams)
    own = c10::make_intrusive<at::PerChannelAffineFloatQParamsQuantizer>(
        quantizer->scalar_type(), scales, zeroPoints, channels.axis());
  else
    own = c10::make_intrusive<at::PerChannelAffineQuantizer>(quantizer->scalar_type(), scales,
                                                             zeroPoints, channels.axis());
  at::get_qtensorimpl(result)->set_quantizer_(std::move(own));
  return result;
}

}  // namespace

at::Tensor transferLayout(const at::Tensor& tensor, PartTransfer& parts) {
  const at::AutoDispatchBelowADInplaceOrView belowAutograd;
  if (tensor.is_nested()) return transferNested(tensor, parts);
  if (tensor.is_quantized()) return transferQuantized(tensor, parts);
  switch (tensor.layout()) {
    case c10::kSparse:
      return transferCoo(tensor, parts);
    case c10::kSparseCsr:
    case c10::kSparseCsc:
    case c10::kSparseBsr:
    case c10::kSparseBsc:
      return transferCompressed(tensor, parts);
    default:  // strided, and MKL-DNN's opaque handle
      return parts.tensor(tensor);
  }
}

}  // namespace multipy::bridge
