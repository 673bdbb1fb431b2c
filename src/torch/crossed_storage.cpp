#include "torch/crossed_storage.h"

#include <c10/core/impl/COW.h>

#include <atomic>
#include <utility>

#include "torch/handoff_counts.h"
#include "torch/housekeeping.h"
#include "torch/ownership.h"
#include "torch/torch_router.h"
#include "torch/versions/torch_version.h"

namespace multipy::routing {
namespace {

using c10::DataPtr;
using c10::StorageImpl;
using StoragePointer = c10::intrusive_ptr<StorageImpl>;

std::atomic<long> deferredDrops{0}, leakedStorages{0};

// ------------------------------------------------------- dropping

// What frees the bytes, if anything does, is torch's own allocator.
bool areTorchs(const DataPtr& bytes) {
  const c10::DeleterFnPtr deleter = bytes.get_deleter();
  if (!deleter || deleter == &c10::detail::deleteNothing) return true;
  const auto device = bytes.device().type();
  return (device == c10::kCPU || device == c10::kCUDA) &&
         deleter == c10::GetAllocator(device)->raw_deleter();
}

// Nobody else has the storage, no Python object is attached: no interpreter is concerned.
bool isPlainMemory(const StorageImpl& storage) {
  return version::isOnlyMemory(storage) && areTorchs(storage.data_ptr_);
}

void leak(StoragePointer storage) {
  leakedStorages.fetch_add(1);
  storage.release();  // NOLINT: on purpose, see the header
}

void dropNow(StoragePointer storage, Incarnation owner) {
  if (const DropPermit permit(owner); permit)
    storage.reset();
  else
    leak(std::move(storage));
}

void drop(StoragePointer storage, Incarnation owner) {
  if (isPlainMemory(*storage)) return;
  const int here = Ownership::process().current();
  if (here == kNone || here == owner.slot) return dropNow(std::move(storage), owner);

  StorageImpl* const raw = storage.release();
  const auto dropThere = [raw, owner] { dropNow(StoragePointer::reclaim(raw), owner); };
  if (postHousekeeping(owner.slot, dropThere))
    deferredDrops.fetch_add(1);
  else
    leak(StoragePointer::reclaim(raw));
}

// What all DataPtrs over one original storage of an interpreter have in common.
class Shared {
 public:
  Shared(StoragePointer original, Incarnation owner)
      : original_(std::move(original)), owner_(owner) {}

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  bool hasOthers() const noexcept { return references_.load(std::memory_order_relaxed) > 1; }

  /// The deleter of the bytes.
  static void release(void* context) {
    auto* const self = static_cast<Shared*>(context);
    countLive(-1);
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

// The deleter of bytes that are C++'s.
void releaseCpps(void* context) {
  countLive(-1);
  StoragePointer::reclaim(static_cast<StorageImpl*>(context));
}

}  // namespace

// ------------------------------------------------------- sharing

DataPtr shareBytes(const StoragePointer& original, int owner) {
  // Bytes that are to be copied at the first write would be copied here or there.
  if (c10::impl::cow::is_cow_data_ptr(original->data_ptr_)) original->mutable_data();
  void* const bytes = const_cast<void*>(original->data());
  const c10::DeleterFnPtr deleter = original->data_ptr_.get_deleter();
  void* context = original->data_ptr_.get_context();
  c10::DeleterFnPtr release = deleter;
  if (deleter == &Shared::release) {
    static_cast<Shared*>(context)->retain();
  } else if (deleter == &releaseCpps) {
    c10::raw::intrusive_ptr::incref(static_cast<StorageImpl*>(context));
  } else if (owner == kNone) {
    context = StoragePointer(original).release();
    release = &releaseCpps;
  } else {
    context = new Shared(original, incarnation(owner));
    release = &Shared::release;
  }
  countLive(1);
  return DataPtr(bytes, context, release, original->data_ptr_.device());
}

bool hasNoOwner(const StorageImpl& storage) {
  const c10::DeleterFnPtr deleter = storage.data_ptr_.get_deleter();
  return deleter == &releaseCpps || deleter == &Shared::release || areTorchs(storage.data_ptr_);
}

bool outlivedByBytes(const StorageImpl& storage) {
  const DataPtr& bytes = storage.data_ptr_;
  if (bytes.get_deleter() == &Shared::release)
    return static_cast<const Shared*>(bytes.get_context())->hasOthers();
  return bytes.get_deleter() == &releaseCpps &&
         c10::raw::intrusive_ptr::use_count(static_cast<StorageImpl*>(bytes.get_context())) > 1;
}

HandoffCounts handoffCounts() noexcept {
  const HandoffSums sums = handoffSums();
  return {sums.crossings, sums.live, deferredDrops.load(), leakedStorages.load()};
}

}  // namespace multipy::routing
