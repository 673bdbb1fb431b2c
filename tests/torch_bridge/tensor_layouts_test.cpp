// Tensors of every layout cross as what they are, over the same bytes.
#include <ATen/ATen.h>
#include <ATen/quantized/Quantizer.h>
#include <gtest/gtest.h>

#include "base/interpreter_id.h"
#include "process/ownership.h"
#include "torch_bridge/tensors/tensor_transfer.h"

namespace multipy::bridge {
namespace {

at::Tensor transfer(const at::Tensor& tensor) {
  std::string error;
  at::Tensor result = transferTensor(tensor, InterpreterId::none(), error);
  EXPECT_EQ(error, "");
  EXPECT_TRUE(result.defined());
  if (result.defined()) {
    EXPECT_NE(result.unsafeGetTensorImpl(), tensor.unsafeGetTensorImpl());
    EXPECT_EQ(result.layout(), tensor.layout());
    EXPECT_EQ(result.dtype(), tensor.dtype());
    EXPECT_EQ(result.device(), tensor.device());
  }
  return result;
}

// The same bytes in another TensorImpl, so that no Python object can be shared.
void expectShared(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_NE(a.unsafeGetTensorImpl(), b.unsafeGetTensorImpl());
  EXPECT_EQ(a.const_data_ptr(), b.const_data_ptr());
  EXPECT_TRUE(at::equal(a, b));
}

TEST(TransferredLayouts, SparseCoo) {
  const at::Tensor dense = at::eye(4) * 2;
  const at::Tensor a = dense.to_sparse();
  const at::Tensor b = transfer(a);
  EXPECT_TRUE(b.is_coalesced());
  expectShared(a._values(), b._values());
  expectShared(a._indices(), b._indices());
  EXPECT_TRUE(at::equal(b.to_dense(), dense));
  EXPECT_TRUE(transfer(dense.to_sparse().requires_grad_()).requires_grad());
  EXPECT_FALSE(
      transfer(at::_sparse_coo_tensor_unsafe(at::zeros({1, 2}, at::kLong), at::ones({2}), {3}))
          .is_coalesced());
}

TEST(TransferredLayouts, CompressedSparse) {
  const at::Tensor dense = at::arange(36, at::kFloat).reshape({6, 6}).tril();
  for (const at::Tensor& a : {dense.to_sparse_csr(), dense.to_sparse_bsr({2, 3})}) {
    const at::Tensor b = transfer(a);
    expectShared(a.values(), b.values());
    expectShared(a.crow_indices(), b.crow_indices());
    expectShared(a.col_indices(), b.col_indices());
    EXPECT_TRUE(at::equal(b.to_dense(), dense));
  }
  for (const at::Tensor& a : {dense.to_sparse_csc(), dense.to_sparse_bsc({3, 2})}) {
    const at::Tensor b = transfer(a);
    expectShared(a.values(), b.values());
    expectShared(a.ccol_indices(), b.ccol_indices());
    expectShared(a.row_indices(), b.row_indices());
    EXPECT_TRUE(at::equal(b.to_dense(), dense));
  }
  EXPECT_TRUE(transfer(dense.to_sparse_csr().requires_grad_()).requires_grad());
}

TEST(TransferredLayouts, Nested) {
  const at::Tensor a = at::_nested_tensor_from_tensor_list(
      {at::arange(6, at::kFloat).reshape({2, 3}), at::ones({4, 3})});
  const at::Tensor b = transfer(a);
  ASSERT_TRUE(b.is_nested());
  const auto as = a.unbind(), bs = b.unbind();
  ASSERT_EQ(bs.size(), 2u);
  for (int i = 0; i < 2; ++i) expectShared(as[i], bs[i]);
  // What Python can ask for is not shared either.
  EXPECT_NE(a._nested_tensor_size().unsafeGetTensorImpl(),
            b._nested_tensor_size().unsafeGetTensorImpl());
  EXPECT_TRUE(at::equal(at::linear(b, at::ones({2, 3})).unbind()[1], at::full({4, 2}, 3.0)));
}

TEST(TransferredLayouts, QuantizedPerTensor) {
  const at::Tensor a = at::quantize_per_tensor(at::linspace(-1, 1, 9), 0.1, 3, at::kQInt8);
  const at::Tensor b = transfer(a);
  ASSERT_TRUE(b.is_quantized());
  EXPECT_EQ(b.q_scale(), 0.1);
  EXPECT_EQ(b.q_zero_point(), 3);
  EXPECT_EQ(b.const_data_ptr(), a.const_data_ptr());
  EXPECT_TRUE(at::equal(b.dequantize(), a.dequantize()));
}

TEST(TransferredLayouts, QuantizedPerChannel) {
  const at::Tensor scales = at::tensor({0.1, 0.2}, at::kDouble);
  const at::Tensor a = at::quantize_per_channel(at::linspace(-1, 1, 8).reshape({2, 4}), scales,
                                                at::tensor({0, 1}, at::kLong), 0, at::kQUInt8);
  const at::Tensor floats =
      at::quantize_per_channel(at::linspace(-1, 1, 8).reshape({2, 4}), scales.to(at::kFloat),
                               at::zeros({2}), 0, at::kQUInt8);
  for (const at::Tensor& from : {a, floats}) {
    const at::Tensor b = transfer(from);
    EXPECT_EQ(b.qscheme(), from.qscheme());
    EXPECT_EQ(b.q_per_channel_axis(), 0);
    expectShared(from.q_per_channel_scales(), b.q_per_channel_scales());
    expectShared(from.q_per_channel_zero_points(), b.q_per_channel_zero_points());
    EXPECT_TRUE(at::equal(b.dequantize(), from.dequantize()));
  }
}

TEST(TransferredLayouts, Mkldnn) {
  if (!at::hasMKLDNN()) {
    EXPECT_THROW(at::ones({2, 3}).to_mkldnn(), c10::Error);
    return;
  }
  const at::Tensor a = at::arange(6.).to(at::kFloat).reshape({2, 3}).to_mkldnn();
  EXPECT_TRUE(at::equal(transfer(a).to_dense(), a.to_dense()));
}

TEST(TransferredLayouts, ZeroSizes) {
  for (const at::Tensor& a : {at::empty({0}), at::empty({3, 0, 2}), at::empty({0, 4}).t()}) {
    const at::Tensor b = transfer(a);
    EXPECT_EQ(b.sizes(), a.sizes());
    EXPECT_EQ(b.strides(), a.strides());
  }
  EXPECT_EQ(transfer(at::empty({0, 3}).to_sparse())._nnz(), 0);
  EXPECT_EQ(transfer(at::zeros({2, 3}).to_sparse_csr())._nnz(), 0);
}

}  // namespace
}  // namespace multipy::bridge
