#include "torch_bridge/tensors/transferred_storage.h"

#include <c10/core/impl/COW.h>

#include <atomic>
#include <new>
#include <typeinfo>
#include <utility>

#include "base/interpreter_id.h"
#include "process/interpreter_threads.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/features/python_objects.h"
#include "torch_bridge/tensors/shared_bytes.h"
#include "torch_bridge/tensors/transfer_counts.h"

namespace multipy::bridge {
namespace {

using c10::DataPtr;
using c10::StorageImpl;
using StoragePointer = c10::intrusive_ptr<StorageImpl>;

std::atomic<long> deferredDrops{0}, leakedStorages{0};

// ------------------------------------------------------- dropping

// What frees the bytes, if anything does, is torch's own allocator.
bool areTorchs(const DataPtr& bytes) {
  const c10::DeleterFnPtr deleter = deleterOf(bytes);
  if (!deleter || deleter == &c10::detail::deleteNothing) return true;
  const auto device = bytes.device().type();
  return (device == c10::kCPU || device == c10::kCUDA) &&
         deleter == c10::GetAllocator(device)->raw_deleter();
}

// Nothing else has the storage, no Python object is attached: no interpreter is concerned.
bool isPlainMemory(const StorageImpl& storage) {
  return feature::isOnlyMemory(storage) && areTorchs(storage.data_ptr_);
}

void leak(StoragePointer storage) {
  leakedStorages.fetch_add(1);
  storage.release();  // NOLINT: on purpose, see the header
}

void dropNow(StoragePointer storage, process::Incarnation owner) {
  if (const process::DropPermit permit(owner); permit)
    storage.reset();
  else
    leak(std::move(storage));
}

void drop(StoragePointer storage, process::Incarnation owner) {
  if (isPlainMemory(*storage)) return;
  const InterpreterId here = process::Ownership::instance().currentPython();
  if (here == InterpreterId::none() || here == owner.slot)
    return dropNow(std::move(storage), owner);

  StorageImpl* const raw = storage.release();
  const auto dropThere = [raw, owner] { dropNow(StoragePointer::reclaim(raw), owner); };
  bool posted = false;
  try {
    posted = process::postHousekeeping(owner.slot, dropThere);
  } catch (const std::bad_alloc&) {
    // A destructor is where this is: no other way is left.
  }
  if (posted)
    deferredDrops.fetch_add(1);
  else
    leak(StoragePointer::reclaim(raw));
}

// The hold on an interpreter's original that all have in common to which it has come.
class Held final : public c10::intrusive_ptr_target {
 public:
  Held(StoragePointer original, process::Incarnation owner)
      : original_(std::move(original)), owner_(owner) {}
  ~Held() override { drop(std::move(original_), owner_); }

  process::Incarnation owner() const noexcept { return owner_; }

 private:
  StoragePointer original_;
  const process::Incarnation owner_;
};

// What a storage over another's bytes keeps: the one or the other original.
struct Original {
  StoragePointer ofCpp;
  c10::intrusive_ptr<Held> ofInterpreter;

  Original(const StoragePointer& storage, InterpreterId owner) {
    if (owner == InterpreterId::none())
      ofCpp = storage;
    else
      ofInterpreter = c10::make_intrusive<Held>(storage, process::incarnation(owner));
  }

  process::Incarnation owner() const {
    return ofInterpreter ? ofInterpreter->owner() : process::incarnation(InterpreterId::none());
  }
  bool isKeptByOthers() const {
    return ofInterpreter ? ofInterpreter.use_count() > 1 : ofCpp.use_count() > 1;
  }
  void giveUp() {
    ofCpp.reset();
    ofInterpreter.reset();
  }
};

class TransferredStorage final : public StorageImpl {
 public:
  TransferredStorage(const StorageImpl& bytesOf, DataPtr bytes, Original original)
      : StorageImpl(use_byte_size_t(), bytesOf.nbytes(), std::move(bytes), /*allocator=*/nullptr,
                    /*resizable=*/false),
        original_(std::move(original)) {
    countLive(1);
  }
  ~TransferredStorage() override {
    if (!ended_) end();
  }
  // Weak references are left.
  void release_resources() override {
    if (!ended_) end();
    StorageImpl::release_resources();
  }

  const Original& original() const noexcept { return original_; }
  /// False once it has got bytes of its own (share_memory_()).
  bool hasOriginalsBytes() const noexcept { return areShared(data_ptr_); }

 private:
  void end() {
    ended_ = true;
    countLive(-1);
    if (hasOriginalsBytes()) {
      const c10::Device device = data_ptr_.device();
      void* const data = data_ptr_.get();
      if (BytesOwner left = release(data_ptr_)) dropBytes(data, std::move(left), device);
    }
    original_.giveUp();
  }

  // The original has got other bytes since, and no other storage has these.
  void dropBytes(void* data, BytesOwner left, c10::Device device) {
    const c10::DeleterFnPtr deleter = left.get_deleter();
    DataPtr bytes(data, left.release(), deleter, device);
    auto last = c10::make_intrusive<StorageImpl>(use_byte_size_t(), nbytes(), std::move(bytes),
                                                 /*allocator=*/nullptr, /*resizable=*/false);
    const process::Incarnation owner = original_.owner();
    if (owner.slot != InterpreterId::none()) drop(std::move(last), owner);
  }

  Original original_;
  bool ended_ = false;
};

const TransferredStorage* transferred(const StorageImpl& storage) noexcept {
  return typeid(storage) == typeid(TransferredStorage)
             ? static_cast<const TransferredStorage*>(&storage)
             : nullptr;
}

}  // namespace

// ------------------------------------------------------- sharing

StoragePointer shareStorage(const StoragePointer& original, InterpreterId owner) {
  // Bytes that are to be copied at the first write would be copied here or there.
  if (c10::impl::cow::is_cow_data_ptr(original->data_ptr_)) original->mutable_data();
  const TransferredStorage* const known = transferred(*original);
  Original kept =
      known && known->hasOriginalsBytes() ? known->original() : Original(original, owner);
  return c10::make_intrusive<TransferredStorage>(*original, shareBytes(*original), std::move(kept));
}

bool hasNoOwner(const StorageImpl& storage) {
  const TransferredStorage* const known = transferred(storage);
  return (known && known->hasOriginalsBytes()) || areTorchs(storage.data_ptr_);
}

bool outlivedByBytes(const StorageImpl& storage) {
  const TransferredStorage* const known = transferred(storage);
  return known && known->hasOriginalsBytes() && known->original().isKeptByOthers();
}

StorageCounts storageCounts() noexcept {
  const TransferSums sums = transferSums();
  return {sums.transfers, sums.live, deferredDrops.load(), leakedStorages.load()};
}

}  // namespace multipy::bridge
