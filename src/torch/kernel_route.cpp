#include "torch/kernel_route.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>

#include "interpreter/fork_mutex.h"
#include "torch/kernel_lookup.h"

namespace multipy::routing {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::KernelFunction;

// Tells our kernels from C++'s in torch's lists.
const std::string kDebug = "multipy: routed";

// Kernels taken away while calls were in them: rare, so one place for all cells.
struct Retired {
  ForkMutex lock;
  std::unordered_map<const KernelCell*, std::vector<std::unique_ptr<const InterpreterKernel>>> kernels;
  static Retired& all() {
    static auto* const one = new Retired;
    return *one;
  }
};

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

void KernelCell::retire(std::unique_ptr<const InterpreterKernel> kernel) {
  if (calls_.load() == 0) return;  // nobody is inside: dies here
  {
    Retired& retired = Retired::all();
    const std::lock_guard guard(retired.lock);
    retired.kernels[this].push_back(std::move(kernel));
    hasRetired_.store(true);
  }
  if (calls_.load() == 0) freeRetired();  // the last call may have left just before
}

void KernelCell::freeRetired() {
  std::vector<std::unique_ptr<const InterpreterKernel>> dead;
  Retired& retired = Retired::all();
  const std::lock_guard guard(retired.lock);
  // A call that came after the one that brought us here may hold one of them.
  if (calls_.load() != 0) return;
  const auto mine = retired.kernels.find(this);
  if (mine == retired.kernels.end()) return;
  dead = std::move(mine->second);
  retired.kernels.erase(mine);
  hasRetired_.store(false);
}

// ------------------------------------------------------- registrations

KernelRoute::KernelRoute(c10::OperatorName name, DispatchKey key, bool isFallback)
    : name_(std::move(name)), key_(key), isFallback_(isFallback) {}

KernelCell* KernelRoute::find(int slot) const noexcept {
  if (slot < 0 || slot >= kMaxInterpreters) return nullptr;
  Chunk* const chunk = chunks_[slot / kCellsPerChunk].load(std::memory_order_acquire);
  return chunk ? &(*chunk)[slot % kCellsPerChunk] : nullptr;
}

KernelCell& KernelRoute::cell(int slot) {
  auto& chunk = chunks_[slot / kCellsPerChunk];
  if (!chunk.load()) chunk.store(new Chunk, std::memory_order_release);
  return *find(slot);
}

void KernelRoute::add(std::uint64_t registration, int slot, KernelFunction kernel) {
  const bool fallthrough = kernel.isFallthrough();
  registrations_.push_back(
      {registration, slot,
       std::make_unique<const InterpreterKernel>(InterpreterKernel{std::move(kernel), fallthrough})});
  try {
    refresh(slot);
  } catch (...) {
    // The dispatcher refused the route, so nobody can be in this kernel.
    const auto refused = std::move(registrations_.back());
    registrations_.pop_back();
    refresh(slot);
    throw;
  }
}

void KernelRoute::take(std::size_t index, std::vector<Removed>& removed) {
  Registration& registration = registrations_[index];
  removed.emplace_back(&cell(registration.slot), std::move(registration.kernel));
  registrations_.erase(registrations_.begin() + static_cast<std::ptrdiff_t>(index));
}

void KernelRoute::remove(std::uint64_t registration, std::vector<Removed>& removed) {
  for (std::size_t i = 0; i < registrations_.size(); ++i) {
    if (registrations_[i].number != registration) continue;
    const int slot = registrations_[i].slot;
    take(i, removed);
    refresh(slot);
    return;
  }
}

void KernelRoute::removeAll(int slot, std::vector<Removed>& removed) {
  bool any = false;
  for (std::size_t i = registrations_.size(); i-- > 0;) {
    if (registrations_[i].slot != slot) continue;
    take(i, removed);
    any = true;
  }
  if (any) refresh(slot);
}

bool KernelRoute::hasKernelOf(int slot) const {
  return std::any_of(registrations_.begin(), registrations_.end(),
                     [slot](const Registration& r) { return r.slot == slot; });
}

void KernelRoute::refresh(int slot) {
  const InterpreterKernel* newest = nullptr;
  bool onlyFallthrough = true;
  for (const Registration& registration : registrations_) {
    if (registration.slot == slot) newest = registration.kernel.get();
    onlyFallthrough = onlyFallthrough && registration.kernel->fallthrough;
  }
  cell(slot).publish(newest);
  install(registrations_.empty() ? Installed::Nothing
          : onlyFallthrough      ? Installed::Fallthrough
                                 : Installed::Functor);
}

// ------------------------------------------------------- the dispatcher's side

void KernelRoute::install(Installed wanted) {
  if (installed_ == wanted) return;
  handle_.reset();  // what was there before shows again
  installed_ = Installed::Nothing;
  if (wanted == Installed::Nothing) return;

  KernelFunction kernel = wanted == Installed::Fallthrough
                              ? KernelFunction::makeFallthrough()
                              : KernelFunction::makeFromBoxedFunctor(
                                    std::make_unique<RouteFunctor>(this));
  auto& dispatcher = c10::Dispatcher::singleton();
  if (isFallback_)
    handle_.emplace(dispatcher.registerFallback(key_, std::move(kernel), kDebug));
  else
    handle_.emplace(dispatcher.registerImpl(name_, key_, std::move(kernel), std::nullopt, nullptr,
                                            kDebug));
  installed_ = wanted;
}

bool KernelRoute::isInstalledAs(const c10::impl::AnnotatedKernel& kernel) const {
  return isInstalled() && kernel.debug == kDebug;
}

void KernelRoute::call(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
  const int slot = Ownership::process().current();
  if (callOwn(slot, op, keys, stack)) return;
  if (isFallback_) failNoKernel(op, slot);

  // The others' kernel here is not for us; ours may be registered at another key.
  const DispatchKey key = keys.highestPriorityTypeId();
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

bool KernelRoute::callOwn(int slot, const c10::OperatorHandle& op, DispatchKeySet keys,
                          torch::jit::Stack* stack) {
  KernelCell* const cell = find(slot);
  if (!cell || cell->empty()) return false;
  const KernelCell::Call inside(*cell);
  const InterpreterKernel* const kernel = inside.kernel();
  if (!kernel) return false;
  // The key that led here: this route's own may be an alias, which covers several.
  if (kernel->fallthrough)
    op.redispatchBoxed(
        keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, keys.highestPriorityTypeId()), stack);
  else
    kernel->function.callBoxed(op, keys, stack);
  return true;
}

void KernelRoute::failNoKernel(const c10::OperatorHandle& op, int slot) const {
  const std::string who =
      slot == kNone ? std::string("the calling thread is in no interpreter")
                    : "interpreter " + std::to_string(slot) + " has not registered one";
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "calling ", op.operator_name(), ": its kernel for ", c10::toString(key_),
      " was registered by another Python interpreter of this process, and ", who,
      ". Run the code that registers it (torch.library) in every interpreter that calls the "
      "operator, or register the kernel from C++");
}

}  // namespace multipy::routing
