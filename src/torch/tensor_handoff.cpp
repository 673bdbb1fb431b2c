// Handing a tensor to another interpreter, or to C++ and back.
//
// A TensorImpl and a StorageImpl each have room for one Python object. If they
// were handed on as they are, two interpreters would fight over that place. So
// every crossing, either way, makes both anew, over the same bytes:
//
//   there                                here
//   TensorImpl ── StorageImpl            TensorImpl ── StorageImpl
//      │                │ bytes ◄──────────── DataPtr ──┘    │
//      └─ version ◄─────┼────────────────────────────────────┘ the same counter
//                       └──── Shared (counted) ◄── context of that DataPtr
//
// Further hops of what has crossed use the same Shared: chains do not grow. The
// new storage cannot be resized, since its bytes belong to another. Tensors of one
// crossing (the arguments of a call, the parts of a result) that have a storage in
// common have the new one in common, too.
//
// Dropping. The last DataPtr gives up the original StorageImpl, whose end may
// need its owner's GIL (a numpy array, a Python object in its place). A thread
// must not wait for that while it holds another interpreter's GIL, so:
//   plain C++ memory, ours alone          freed here
//   the thread is in no interpreter       freed here, the owner's GIL is taken if needed
//   the thread is in the owner            likewise
//   the thread is in another interpreter  the owner's housekeeping thread does it
//   the owner is gone                     never freed: the bytes may be its Python's
#include "torch/tensor_handoff.h"

#include <ATen/SparseCsrTensorUtils.h>
#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/COW.h>

#include <array>
#include <atomic>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "torch/crossed_layouts.h"
#include "torch/graph_link.h"
#include "torch/housekeeping.h"
#include "torch/ownership.h"
#include "torch/torch_router.h"
#include "torch/versions/torch_version.h"

namespace multipy::routing {
namespace {

using c10::DataPtr;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::StorageImpl;
using c10::TensorImpl;
using StoragePointer = c10::intrusive_ptr<StorageImpl>;

// A number that every crossing changes. Threads change different parts of it, so that
// their processors do not pass one cache line to and fro.
class Count {
 public:
  void add(long change) noexcept { parts_[part()].value.fetch_add(change, std::memory_order_relaxed); }
  long total() const noexcept {
    long sum = 0;
    for (const Part& part : parts_) sum += part.value.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  struct alignas(64) Part {
    std::atomic<long> value{0};
  };
  static std::size_t part() noexcept {
    static std::atomic<std::size_t> threads{0};
    static thread_local const std::size_t mine = threads.fetch_add(1) % kParts;
    return mine;
  }
  static constexpr std::size_t kParts = 64;
  std::array<Part, kParts> parts_;
};

Count crossings, liveCrossings;
std::atomic<long> deferredDrops{0}, leakedStorages{0};

// ------------------------------------------------------- dropping

// Nobody else has the storage, no Python object is attached, and what frees its
// bytes is torch's own allocator: no interpreter is concerned.
bool isPlainMemory(const StorageImpl& storage) {
  if (!version::isOnlyMemory(storage)) return false;
  const DataPtr& bytes = storage.data_ptr_;
  if (!bytes.get_deleter()) return true;
  if (bytes.get_deleter() == &c10::detail::deleteNothing) return true;
  const auto device = bytes.device().type();
  return (device == c10::kCPU || device == c10::kCUDA) &&
         bytes.get_deleter() == c10::GetAllocator(device)->raw_deleter();
}

void leak(StoragePointer storage) {
  leakedStorages.fetch_add(1);
  storage.release();  // NOLINT: on purpose, see above
}

void dropNow(StoragePointer storage, Incarnation owner) {
  if (owner.slot == kNone) return;
  if (const DropPermit permit(owner); permit)
    storage.reset();
  else
    leak(std::move(storage));
}

void drop(StoragePointer storage, Incarnation owner) {
  if (isPlainMemory(*storage)) return;
  const int here = Ownership::process().current();
  if (owner.slot == kNone || here == kNone || here == owner.slot)
    return dropNow(std::move(storage), owner);

  StorageImpl* const raw = storage.release();
  const auto dropThere = [raw, owner] { dropNow(StoragePointer::reclaim(raw), owner); };
  if (postHousekeeping(owner.slot, dropThere))
    deferredDrops.fetch_add(1);
  else
    leak(StoragePointer::reclaim(raw));
}

// What all DataPtrs over one original storage have in common.
class Shared {
 public:
  Shared(StoragePointer original, Incarnation owner) : original_(std::move(original)), owner_(owner) {}

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }

  /// The deleter of crossed storages.
  static void release(void* context) {
    auto* const self = static_cast<Shared*>(context);
    liveCrossings.add(-1);
    if (self->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    StoragePointer original = std::move(self->original_);
    const Incarnation owner = self->owner_;
    delete self;
    drop(std::move(original), owner);
  }

 private:
  StoragePointer original_;
  const Incarnation owner_;
  std::atomic<long> references_{1};
};

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
  if (owner == kNone && tensor.requires_grad() && !tensor.is_leaf())
    return "it has a grad_fn: autograd's graph belongs to one interpreter. Call .detach() first";
  return nullptr;
}

std::string describe(const at::Tensor& tensor, int owner) {
  std::ostringstream text;
  text << "handing over a tensor of type " << tensor.scalar_type() << ", layout " << tensor.layout()
       << (owner == kNone ? std::string(" from C++") : " from interpreter " + std::to_string(owner))
       << ": ";
  return text.str();
}

// ------------------------------------------------------- crossing

DataPtr sharedBytes(const TensorImpl& from, StorageImpl& original, int owner) {
  // Bytes that are to be copied at the first write would be copied here or there.
  if (c10::impl::cow::is_cow_data_ptr(original.data_ptr())) original.mutable_data();
  void* const bytes = const_cast<void*>(original.data());
  Shared* shared = nullptr;
  if (original.data_ptr().get_deleter() == &Shared::release) {
    shared = static_cast<Shared*>(original.data_ptr().get_context());
    shared->retain();
  } else {
    shared = new Shared(from.unsafe_storage().storage_impl_, incarnation(owner));
  }
  liveCrossings.add(1);
  return DataPtr(bytes, shared, &Shared::release, original.device());
}

// A leaf crosses as a leaf, a result goes on with its graph.
void keepGradients(const at::Tensor& original, at::Tensor& result, int owner) {
  if (!original.requires_grad()) return;
  if (original.is_leaf())
    result.set_requires_grad(true);
  else
    linkGraph(original, result, owner);
}

// The storages that have crossed so far within the crossing of this thread, so
// that tensors which share one still do on the other side.
struct Aliases {
  int depth = 0;
  std::vector<std::pair<const StorageImpl*, c10::Storage>> crossed;  // keep the originals alive
};
thread_local Aliases aliases;

class Parts final : public PartCrossing {
 public:
  explicit Parts(int owner) : owner_(owner) {}

  at::Tensor tensor(const at::Tensor& part) override {
    const TensorImpl& from = *part.unsafeGetTensorImpl();
    auto made = from.shallow_copy_and_detach(from.version_counter(),
                                             /*allow_tensor_metadata_change=*/true);
    if (from.has_storage()) made->set_storage_keep_dtype(storage(from));
    return at::Tensor(std::move(made));
  }

  c10::Storage storage(const TensorImpl& of) override {
    StorageImpl& original = *of.unsafe_storage().unsafeGetStorageImpl();
    for (const auto& [known, crossed] : aliases.crossed) {
      if (known == &original) return crossed;
    }
    DataPtr bytes = sharedBytes(of, original, owner_);
    c10::Storage made(c10::make_intrusive<StorageImpl>(
        StorageImpl::use_byte_size_t(), original.nbytes(), std::move(bytes),
        /*allocator=*/nullptr, /*resizable=*/false));
    if (aliases.depth > 0) aliases.crossed.emplace_back(&original, made);
    return made;
  }

 private:
  const int owner_;
};

}  // namespace

void openCrossing() { ++aliases.depth; }

void closeCrossing() {
  if (--aliases.depth == 0) aliases.crossed.clear();
}

at::Tensor crossTensor(const at::Tensor& tensor, int owner, std::string& error) {
  if (!tensor.defined()) return tensor;
  try {
    if (const char* const why = refusal(tensor, owner)) {
      error = describe(tensor, owner) + "it cannot be passed to another interpreter: " + why;
      return {};
    }
    Parts parts(owner);
    at::Tensor result = crossLayout(tensor, parts);
    keepGradients(tensor, result, owner);
    crossings.add(1);
    return result;
  } catch (const c10::Error& refused) {
    error = "handing over a tensor: torch refused: " + std::string(refused.what_without_backtrace());
  } catch (const std::exception& refused) {
    error = "handing over a tensor: " + std::string(refused.what());
  }
  return {};
}

HandoffCounts handoffCounts() noexcept {
  return {crossings.total(), liveCrossings.total(), deferredDrops.load(), leakedStorages.load()};
}

}  // namespace multipy::routing
