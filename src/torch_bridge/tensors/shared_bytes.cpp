#include "torch_bridge/tensors/shared_bytes.h"

#include <array>
#include <atomic>
#include <cstdint>

#include "base/fork_mutex.h"

namespace multipy::bridge {
namespace {

using c10::DataPtr;
using c10::DeleterFnPtr;
using c10::StorageImpl;

SharedBytes* contextOf(const DataPtr& bytes) noexcept {
  return static_cast<SharedBytes*>(bytes.get_context());
}

// The deleter of all bytes that are freed by a std::function: torch does not export it.
const DeleterFnPtr kDeleterOfFunctions = c10::InefficientStdFunctionContext::makeDataPtr(
                                             nullptr, [](void*) {}, c10::kCPU)
                                             .get_deleter();

// Nothing asks such bytes for their deleter or context, but to free them.
bool mayChange(const DataPtr& bytes, DeleterFnPtr deleter) {
  return bytes.device().type() == c10::kCPU &&
         (!bytes.get_context() || deleter == c10::GetAllocator(c10::kCPU)->raw_deleter() ||
          deleter == kDeleterOfFunctions);
}

// When a storage is shared for the first time by two threads at once, one context must be
// made. Which lock is taken for that, goes by the storage's address.
constexpr unsigned kLockBits = 6;
struct alignas(64) FirstSharing {
  base::ForkMutex lock;
};
constinit std::array<FirstSharing, 1U << kLockBits> firstSharings;

base::ForkMutex& firstSharing(const StorageImpl& original) {
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(&original);
  return firstSharings[(address * 0x9e3779b97f4a7c15U) >> (64 - kLockBits)].lock;
}

// The context first and the deleter last: who reads the new deleter finds its context.
void makeShared(DataPtr& bytes, std::atomic_ref<DeleterFnPtr> deleter) {
  auto& owner = bytes.ptr_.ctx_;
  auto* const made = new SharedBytes(nullptr, owner.get_deleter());
  made->other_ctx.reset(owner.release());
  owner.reset(made);
  deleter.store(&c10::refcounted_deleter, std::memory_order_release);
}

// torch's own function may have counted down just before, and be about to read the count: it
// has to be there, and not to be 0, until that thread has gone on. How long that takes
// cannot be known; here it is as long as 64 more that end so.
void retire(SharedBytes* context) noexcept {
  static constinit std::array<std::atomic<SharedBytes*>, 64> retired{};
  static constinit std::atomic<unsigned> next{0};
  delete retired[next.fetch_add(1, std::memory_order_relaxed) % retired.size()].exchange(context);
}

}  // namespace

DataPtr shareBytes(StorageImpl& original) {
  DataPtr& bytes = original.data_ptr_;
  const std::atomic_ref<DeleterFnPtr> deleter(bytes.ptr_.ctx_.get_deleter());
  // Throws where torch's own readers would, too.
  void* const data = const_cast<void*>(original.data());
  const auto aliasWith = [&](SharedBytes* context) {
    return DataPtr(data, context, &c10::refcounted_deleter, bytes.device());
  };

  if (const auto now = deleter.load(std::memory_order_acquire); now != &c10::refcounted_deleter) {
    if (!mayChange(bytes, now))
      return aliasWith(new SharedBytes(nullptr, &c10::detail::deleteNothing));
    const base::Lock guard(firstSharing(original));
    if (deleter.load(std::memory_order_relaxed) != &c10::refcounted_deleter)
      makeShared(bytes, deleter);
  }
  SharedBytes* const context = contextOf(bytes);
  context->refcount.fetch_add(1, std::memory_order_relaxed);
  return aliasWith(context);
}

bool areShared(const DataPtr& bytes) noexcept {
  return bytes.get_deleter() == &c10::refcounted_deleter;
}

BytesOwner release(DataPtr& bytes) noexcept {
  auto* const context = static_cast<SharedBytes*>(bytes.release_context());
  bytes.clear();
  int count = context->refcount.load(std::memory_order_acquire);
  while (count != 1) {
    if (context->refcount.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel,
                                                std::memory_order_acquire))
      return {nullptr, &c10::detail::deleteNothing};
  }
  BytesOwner owner = std::move(context->other_ctx);
  retire(context);
  return owner;
}

DeleterFnPtr deleterOf(const DataPtr& bytes) noexcept {
  DeleterFnPtr deleter = bytes.get_deleter();
  const void* context = bytes.get_context();
  while (deleter == &c10::refcounted_deleter) {
    const BytesOwner& owner = static_cast<const SharedBytes*>(context)->other_ctx;
    deleter = owner.get_deleter();
    context = owner.get();
  }
  return deleter;
}

}  // namespace multipy::bridge
