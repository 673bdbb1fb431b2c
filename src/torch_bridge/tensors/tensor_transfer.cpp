// Handing a tensor to another interpreter, or to C++ and back.
//
// A TensorImpl and a StorageImpl each have room for one Python object. If they
// were handed on as they are, two interpreters would fight over that place. So
// every crossing, either way, makes both anew, over the same bytes:
//
//   there                                      here
//   TensorImpl ── StorageImpl ◄───── keeps ─── StorageImpl ── TensorImpl
//      │             └ DataPtr ─► bytes ◄─ DataPtr ┘               │
//      └─ version ◄────────────────────────────────────────────────┘ the same counter
//
// (transferred_storage.h: what is kept, and where it ends; shared_bytes.h: how torch knows
// that the bytes are the same.)
//
// (But for results that nobody else has: tensor_wrappers.cpp.) The new storage cannot be
// resized, since its bytes belong to another. Tensors of one crossing (the arguments of a
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

#include "process/ownership.h"
#include "torch_bridge/tensors/graph_link.h"
#include "torch_bridge/tensors/tensor_layouts.h"
#include "torch_bridge/tensors/transfer_counts.h"
#include "torch_bridge/tensors/transferred_storage.h"

namespace multipy::routing {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::StorageImpl;
using c10::TensorImpl;

// ------------------------------------------------------- what cannot cross

// Why `tensor` cannot cross from `owner`, or null.
const char* refusal(const at::Tensor& tensor, int owner) {
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
  if (owner == process::kNone && tensor.requires_grad() && !tensor.is_leaf())
    return "it has a grad_fn: autograd's graph belongs to one interpreter. Call .detach() first";
  return nullptr;
}

std::string describe(const at::Tensor& tensor, int owner) {
  std::ostringstream text;
  text << "handing over a tensor of type " << tensor.scalar_type() << ", layout " << tensor.layout()
       << (owner == process::kNone ? std::string(" from C++")
                                   : " from interpreter " + std::to_string(owner))
       << ": ";
  return text.str();
}

// ------------------------------------------------------- crossing

// A leaf crosses as a leaf, a result goes on with its graph.
void keepGradients(const at::Tensor& original, at::Tensor& result, int owner) {
  if (!original.requires_grad()) return;
  if (original.is_leaf())
    result.set_requires_grad(true);
  else
    linkGraph(original, result, owner);
}

// The storages that have crossed so far within the crossing of this thread, so
// that tensors which share one still do on the other side. The originals are held: they
// must not make room for others, and must not seem to be one tensor's alone.
struct Aliases {
  std::vector<std::pair<c10::intrusive_ptr<StorageImpl>, c10::Storage>> crossed;
};
thread_local Aliases aliases;
constinit thread_local int openCrossings = 0;

c10::Storage crossStorage(const TensorImpl& of, int owner) {
  const auto& original = of.storage_.storage_impl_;
  const auto make = [&] { return c10::Storage(shareStorage(original, owner)); };
  if (openCrossings == 0) return make();
  for (const auto& [known, crossed] : aliases.crossed) {
    if (known == original) return crossed;
  }
  return aliases.crossed.emplace_back(original, make()).second;
}

// What shallow_copy_and_detach() and another storage come to. As a view without any keys
// the new one gets no version counter, which would be thrown away at once.
at::Tensor crossPlain(const TensorImpl& from, int owner) {
  auto made = c10::make_intrusive<TensorImpl>(TensorImpl::VIEW, crossStorage(from, owner),
                                              DispatchKeySet(), from.dtype());
  TensorImpl::copy_generic_tensor_metadata(&from, made.get());
  made->key_set_ = from.key_set();
  made->version_counter_ = from.version_counter();
  return at::Tensor(std::move(made));
}

class Parts final : public PartCrossing {
 public:
  explicit Parts(int owner) : owner_(owner) {}

  at::Tensor tensor(const at::Tensor& part) override {
    const TensorImpl& from = *part.unsafeGetTensorImpl();
    if (isPlain(from)) return crossPlain(from, owner_);
    auto made = from.shallow_copy_and_detach(from.version_counter(),
                                             /*allow_tensor_metadata_change=*/true);
    if (from.has_storage()) made->set_storage_keep_dtype(storage(from));
    return at::Tensor(std::move(made));
  }
  c10::Storage storage(const TensorImpl& of) override { return crossStorage(of, owner_); }

 private:
  const int owner_;
};

// May throw c10::Error.
at::Tensor crossUnusual(const at::Tensor& tensor, int owner, std::string& error) {
  if (const char* const why = refusal(tensor, owner)) {
    error = describe(tensor, owner) + "it cannot be passed to another interpreter: " + why;
    return {};
  }
  Parts parts(owner);
  at::Tensor result = crossLayout(tensor, parts);
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

void openCrossing() { ++openCrossings; }

void closeCrossing() {
  if (--openCrossings == 0) aliases.crossed.clear();
}

at::Tensor crossTensor(const at::Tensor& tensor, int owner, std::string& error) {
  if (!tensor.defined()) return tensor;
  try {
    const TensorImpl& from = *tensor.unsafeGetTensorImpl();
    const bool usual = isPlain(from) && !from.autograd_meta_;
    at::Tensor result = usual ? crossPlain(from, owner) : crossUnusual(tensor, owner, error);
    if (result.defined()) countCrossing();
    return result;
  } catch (const c10::Error& refused) {
    error =
        "handing over a tensor: torch refused: " + std::string(refused.what_without_backtrace());
  } catch (const std::exception& refused) {
    error = "handing over a tensor: " + std::string(refused.what());
  }
  return {};
}

}  // namespace multipy::routing
