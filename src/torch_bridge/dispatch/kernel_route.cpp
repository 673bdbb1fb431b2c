#include "torch_bridge/dispatch/kernel_route.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/interpreter_id.h"
#include "torch_bridge/dispatch/kernel_lookup.h"

namespace multipy::bridge {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::KernelFunction;

// Tells our kernels from C++'s in torch's lists.
const std::string kDebug = "multipy: routed";

// What torch's dispatch table points to.
struct RouteFunctor final : c10::OperatorKernel {
  explicit RouteFunctor(KernelRoute* r) : route(r) {}
  void operator()(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
    route->call(op, keys, stack);
  }
  KernelRoute* const route;
};

}  // namespace

// ------------------------------------------------------- cells

constinit base::ForkMutex KernelCell::retiring_;

void KernelCell::retire(std::unique_ptr<const InterpreterKernel> kernel) noexcept {
  if (calls_.load() == 0) return;  // no call is inside: dies here
  {
    const base::Lock guard(retiring_);
    kernel->nextRetired = retired_;
    retired_ = kernel.release();
    hasRetired_.store(true);
  }
  if (calls_.load() == 0) freeRetired();  // the last call may have left just before
}

void KernelCell::freeRetired() noexcept {
  const InterpreterKernel* dead = nullptr;
  {
    const base::Lock guard(retiring_);
    // A call that came after the one that brought us here may hold one of them.
    if (calls_.load() != 0) return;
    dead = std::exchange(retired_, nullptr);
    hasRetired_.store(false);
  }
  while (dead) delete std::exchange(dead, dead->nextRetired);
}

// ------------------------------------------------------- registrations

KernelRoute::KernelRoute(c10::OperatorName name, DispatchKey key, bool isFallback)
    : name_(std::move(name)), key_(key), isFallback_(isFallback) {}

KernelCell* KernelRoute::find(InterpreterId slot) const noexcept {
  if (!slot.isInterpreter()) return nullptr;
  Chunk* const chunk = chunks_[slot.number() / kCellsPerChunk].load(std::memory_order_acquire);
  return chunk ? &(*chunk)[slot.number() % kCellsPerChunk] : nullptr;
}

KernelCell& KernelRoute::cell(InterpreterId slot) {
  auto& chunk = chunks_[slot.number() / kCellsPerChunk];
  if (!chunk.load()) chunk.store(new Chunk, std::memory_order_release);
  return *find(slot);
}

void KernelRoute::add(std::uint64_t registration, InterpreterId slot, KernelFunction kernel) {
  const bool fallthrough = kernel.isFallthrough();
  auto owned =
      std::make_unique<const InterpreterKernel>(InterpreterKernel{std::move(kernel), fallthrough});
  Registration& added = registrations_.emplace_back();
  added.number = registration;
  added.slot = slot;
  added.kernel = std::move(owned);
  try {
    refresh(slot);
  } catch (...) {
    // The dispatcher refused the route, so no call can be in this kernel.
    Removed refused;
    refused.splice(refused.end(), registrations_, std::prev(registrations_.end()));
    refresh(slot);
    throw;
  }
}

void KernelRoute::take(Removed::iterator registration, Removed& removed) noexcept {
  registration->cell = find(registration->slot);  // which refresh() has made
  removed.splice(removed.end(), registrations_, registration);
}

void KernelRoute::remove(std::uint64_t registration, Removed& removed) {
  const auto found =
      std::find_if(registrations_.begin(), registrations_.end(),
                   [&](const Registration& each) { return each.number == registration; });
  if (found == registrations_.end()) return;
  const InterpreterId slot = found->slot;
  take(found, removed);
  refresh(slot);
}

void KernelRoute::removeAll(InterpreterId slot, Removed& removed) {
  bool any = false;
  for (auto next = registrations_.begin(); next != registrations_.end();) {
    const auto each = next++;
    if (each->slot != slot) continue;
    take(each, removed);
    any = true;
  }
  if (any) refresh(slot);
}

bool KernelRoute::hasKernelOf(InterpreterId slot) const {
  return std::any_of(registrations_.begin(), registrations_.end(),
                     [slot](const Registration& r) { return r.slot == slot; });
}

const KernelFunction& KernelRoute::newestOf(InterpreterId slot) const {
  const auto newest =
      std::find_if(registrations_.rbegin(), registrations_.rend(),
                   [slot](const Registration& registration) { return registration.slot == slot; });
  return newest->kernel->function;
}

void KernelRoute::refresh(InterpreterId slot) {
  const InterpreterKernel* newest = nullptr;
  bool onlyFallthrough = true;
  for (const Registration& registration : registrations_) {
    if (registration.slot == slot) newest = registration.kernel.get();
    onlyFallthrough = onlyFallthrough && registration.kernel->fallthrough;
  }
  cell(slot).publish(newest);
  install(isKept_                  ? Installed::Functor
          : registrations_.empty() ? Installed::Nothing
          : onlyFallthrough        ? Installed::Fallthrough
                                   : Installed::Functor);
}

void KernelRoute::keep() {
  isKept_ = true;
  install(Installed::Functor);
}

// ------------------------------------------------------- the dispatcher's side

void KernelRoute::install(Installed wanted) {
  if (installed_ == wanted) return;
  handle_.reset();  // what was there before shows again
  installed_ = Installed::Nothing;
  if (wanted == Installed::Nothing) return;

  KernelFunction kernel =
      wanted == Installed::Fallthrough
          ? KernelFunction::makeFallthrough()
          : KernelFunction::makeFromBoxedFunctor(std::make_unique<RouteFunctor>(this));
  auto& dispatcher = c10::Dispatcher::singleton();
  if (isFallback_)
    handle_.emplace(dispatcher.registerFallback(key_, std::move(kernel), kDebug));
  else
    handle_.emplace(
        dispatcher.registerImpl(name_, key_, std::move(kernel), std::nullopt, nullptr, kDebug));
  installed_ = wanted;
}

bool KernelRoute::isInstalledAs(const c10::impl::AnnotatedKernel& kernel) const {
  return isInstalled() && kernel.debug == kDebug;
}

void KernelRoute::call(const c10::OperatorHandle& op, DispatchKeySet keys,
                       torch::jit::Stack* stack) {
  const InterpreterId slot = process::Ownership::instance().currentPython();
  if (callOwn(slot, op, keys, stack)) return;
  if (isFallback_) failNoKernel(op, slot);

  // The others' kernel here is not for us; ours may be registered at another key.
  const DispatchKey key = keyOf(keys);
  std::optional<ChosenKernel> chosen = chooseKernel(slot, op.operatorDef_->op, key);
  if (chosen && chosen->own) {
    if (chosen->own->callOwn(slot, op, keys, stack)) return;
    chosen.reset();  // dropped meanwhile
  }
  if (!chosen) failNoKernel(op, slot);
  if (chosen->shared.isFallthrough())
    op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, key), stack);
  else
    chosen->shared.callBoxed(op, keys, stack);
}

// An alias covers several keys. And the highest of the call's is not always the one that led here:
// a Python dispatcher, whose key stays among them, has the kernel of a lower one called.
DispatchKey KernelRoute::keyOf(DispatchKeySet keys) const {
  if (isFallback_) return keys.highestPriorityTypeId();
  if (!c10::isAliasDispatchKey(key_)) return key_;
  const DispatchKeySet covered = keys & c10::getRuntimeDispatchKeySet(key_);
  return covered.empty() ? keys.highestPriorityTypeId() : covered.highestPriorityTypeId();
}

bool KernelRoute::callOwn(InterpreterId slot, const c10::OperatorHandle& op, DispatchKeySet keys,
                          torch::jit::Stack* stack) {
  KernelCell* const cell = find(slot);
  if (!cell || cell->empty()) return false;
  const KernelCell::Call inside(*cell);
  const InterpreterKernel* const kernel = inside.kernel();
  if (!kernel) return false;
  if (kernel->fallthrough)
    op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, keyOf(keys)), stack);
  else
    kernel->function.callBoxed(op, keys, stack);
  return true;
}

void KernelRoute::failNoKernel(const c10::OperatorHandle& op, InterpreterId slot) const {
  const std::string who =
      slot == InterpreterId::none()
          ? std::string("the calling thread is in no interpreter")
          : "interpreter " + std::to_string(slot.number()) + " has not registered one";
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "calling ", op.operator_name(), ": its kernel for ", c10::toString(key_),
      " was registered by another Python interpreter of this process, and ", who,
      ". Run the code that registers it (torch.library) in every interpreter that calls the "
      "operator, or register the kernel from C++");
}

}  // namespace multipy::bridge
