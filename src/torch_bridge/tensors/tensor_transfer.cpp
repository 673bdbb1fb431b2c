// Handing a tensor to another interpreter, or to C++ and back.
//
// A TensorImpl and a StorageImpl each have room for one Python object. If they
// were passed on as they are, two interpreters would fight over that place. So
// every transfer, either way, makes both anew, over the same bytes:
//
//   there                                      here
//   TensorImpl ── StorageImpl ◄───── keeps ─── StorageImpl ── TensorImpl
//      │             └ DataPtr ─► bytes ◄─ DataPtr ┘               │
//      └─ version ◄────────────────────────────────────────────────┘ the same counter
//
// (transferred_storage.h: what is kept, and where it ends; shared_bytes.h: how torch knows
// that the bytes are the same.)
//
// (But for results that nothing else refers to: tensor_wrappers.cpp.) The new storage cannot be
// resized, since its bytes belong to another. Tensors of one transfer (the arguments of a
// call, the parts of a result) that have a storage in common have the new one in common,
// too.
#include "torch_bridge/tensors/tensor_transfer.h"

#include <ATen/SparseCsrTensorUtils.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>

#include <sstream>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/interpreter_id.h"
#include "process/ownership.h"
#include "torch_bridge/tensors/graph_link.h"
#include "torch_bridge/tensors/tensor_layouts.h"
#include "torch_bridge/tensors/transfer_counts.h"
#include "torch_bridge/tensors/transferred_storage.h"

namespace multipy::bridge {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::StorageImpl;
using c10::TensorImpl;

// ------------------------------------------------------- what cannot cross

// Why `tensor` cannot cross from `owner`, or null.
const char* refusal(const at::Tensor& tensor, InterpreterId owner) {
  const TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const DispatchKeySet keys = impl.key_set();
  if (keys.has_any(DispatchKeySet({DispatchKey::Python, DispatchKey::PythonTLSSnapshot})))
    return "it is a subclass with __torch_dispatch__ (FakeTensor, DTensor and the like), whose "
           "meaning lives in its interpreter's Python. Pass the plain tensors it consists of";
  if (keys.has_any(DispatchKeySet({DispatchKey::FuncTorchBatched, DispatchKey::FuncTorchGradWrapper,
                                   DispatchKey::Functionalize})))
    return "it is a wrapper made by vmap, grad or functionalize, and means something only inside "
           "them. Pass it after the transformed function has returned";
  if (tensor.layout() != c10::kStrided && tensor.layout() != c10::kMkldnn && !tensor.is_sparse() &&
      !at::sparse_csr::is_sparse_compressed(tensor))
    return "its layout is that of a Python subclass. Pass its parts (for a jagged nested tensor: "
           "values() and offsets())";
  if (impl.has_symbolic_sizes_strides())
    return "its sizes are symbolic. Pass it outside of tracing or export";
  if (owner == InterpreterId::none() && tensor.requires_grad() && !tensor.is_leaf())
    return "it has a grad_fn: autograd's graph belongs to one interpreter. Call .detach() first";
  return nullptr;
}

std::string describe(const at::Tensor& tensor, InterpreterId owner) {
  std::ostringstream text;
  text << "transferring a tensor of type " << tensor.scalar_type() << ", layout " << tensor.layout()
       << (owner == InterpreterId::none() ? std::string(" from C++")
                                          : " from interpreter " + std::to_string(owner.number()))
       << ": ";
  return text.str();
}

// ------------------------------------------------------- transfer

// A leaf crosses as a leaf, a result goes on with its graph.
void keepGradients(const at::Tensor& original, at::Tensor& result, InterpreterId owner) {
  if (!original.requires_grad()) return;
  if (original.is_leaf())
    result.set_requires_grad(true);
  else
    linkGraph(original, result, owner);
}

// The storages that have been transferred so far within the transfer of this thread, so
// that tensors which share one still do on the other side. The originals are held: they
// must not make room for others, and must not seem to be one tensor's alone.
struct Aliases {
  std::vector<std::pair<c10::intrusive_ptr<StorageImpl>, c10::Storage>> transferred;
};
thread_local Aliases aliases;
constinit thread_local int openGroups = 0;

c10::Storage transferStorage(const TensorImpl& of, InterpreterId owner) {
  const auto& original = of.storage_.storage_impl_;
  const auto make = [&] { return c10::Storage(shareStorage(original, owner)); };
  if (openGroups == 0) return make();
  for (const auto& [known, transferred] : aliases.transferred) {
    if (known == original) return transferred;
  }
  return aliases.transferred.emplace_back(original, make()).second;
}

// What shallow_copy_and_detach() and another storage come to. As a view without any keys
// the new one gets no version counter, which would be thrown away at once.
at::Tensor transferPlain(const TensorImpl& from, InterpreterId owner) {
  auto made = c10::make_intrusive<TensorImpl>(TensorImpl::VIEW, transferStorage(from, owner),
                                              DispatchKeySet(), from.dtype());
  TensorImpl::copy_generic_tensor_metadata(&from, made.get());
  made->key_set_ = from.key_set();
  made->version_counter_ = from.version_counter();
  return at::Tensor(std::move(made));
}

class Parts final : public PartTransfer {
 public:
  explicit Parts(InterpreterId owner) : owner_(owner) {}

  at::Tensor tensor(const at::Tensor& part) override {
    const TensorImpl& from = *part.unsafeGetTensorImpl();
    if (isPlain(from)) return transferPlain(from, owner_);
    auto made = from.shallow_copy_and_detach(from.version_counter(),
                                             /*allow_tensor_metadata_change=*/true);
    if (from.has_storage()) made->set_storage_keep_dtype(storage(from));
    return at::Tensor(std::move(made));
  }
  c10::Storage storage(const TensorImpl& of) override { return transferStorage(of, owner_); }

 private:
  const InterpreterId owner_;
};

// May throw c10::Error.
at::Tensor transferUnusual(const at::Tensor& tensor, InterpreterId owner, std::string& error) {
  if (const char* const why = refusal(tensor, owner)) {
    error = describe(tensor, owner) + "it cannot be passed to another interpreter: " + why;
    return {};
  }
  Parts parts(owner);
  at::Tensor result = transferLayout(tensor, parts);
  keepGradients(tensor, result, owner);
  return result;
}

// All that makes a tensor not plain, other than its type.
constexpr DispatchKeySet kUnusual({DispatchKey::Python, DispatchKey::PythonTLSSnapshot,
                                   DispatchKey::FuncTorchBatched, DispatchKey::FuncTorchGradWrapper,
                                   DispatchKey::Functionalize, DispatchKey::Sparse,
                                   DispatchKey::SparseCsr, DispatchKey::NestedTensor,
                                   DispatchKey::Quantized, DispatchKey::MkldnnCPU});

}  // namespace

bool isPlain(const TensorImpl& tensor) {
  return typeid(tensor) == typeid(TensorImpl) && !tensor.key_set().has_any(kUnusual) &&
         !tensor.has_symbolic_sizes_strides() && !tensor.extra_meta_ &&
         !tensor.storage_access_should_throw_ && tensor.storage_;
}

void beginTransferGroup() { ++openGroups; }

void endTransferGroup() {
  if (--openGroups == 0) aliases.transferred.clear();
}

at::Tensor transferTensor(const at::Tensor& tensor, InterpreterId owner, std::string& error) {
  if (!tensor.defined()) return tensor;
  try {
    const TensorImpl& from = *tensor.unsafeGetTensorImpl();
    const bool usual = isPlain(from) && !from.autograd_meta_;
    at::Tensor result = usual ? transferPlain(from, owner) : transferUnusual(tensor, owner, error);
    if (result.defined()) countTransfer();
    return result;
  } catch (const c10::Error& refused) {
    error =
        "transferring a tensor: torch refused: " + std::string(refused.what_without_backtrace());
  } catch (const std::exception& refused) {
    error = "transferring a tensor: " + std::string(refused.what());
  }
  return {};
}

}  // namespace multipy::bridge
