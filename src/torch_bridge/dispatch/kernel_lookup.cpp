#include "torch_bridge/dispatch/kernel_lookup.h"

#include <functional>
#include <mutex>

#include "base/fork_mutex.h"
#include "base/interpreter_id.h"
#include "torch_bridge/dispatch/kernel_route.h"
#include "torch_bridge/dispatch/program_kernels.h"
#include "torch_bridge/dispatch/registry.h"

namespace multipy::bridge {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::impl::OperatorEntry;

// As ChosenKernel, while the registration lock is held.
struct Found {
  KernelRoute* own = nullptr;
  const c10::KernelFunction* shared = nullptr;  // if `own` is null
};

// One look at an operator's kernels, for one interpreter (or for a thread that is
// in none). Holds the lock, which clang does not follow into a member.
class View {
 public:
  View(InterpreterId slot, const OperatorEntry& entry)
      : slot_(slot),
        entry_(entry),
        guard_(registry_.lock),
        dispatcherGuard_(c10::Dispatcher::singleton().guard_->mutex) {}

  // The newest at exactly this key.
  std::optional<Found> at(DispatchKey key) const MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
    const auto kernels = entry_.kernels_.find(key);
    if (kernels == entry_.kernels_.end()) return std::nullopt;
    const auto route = registry_.routes.find({fullName(entry_.name_), key});
    KernelRoute* const routed = route == registry_.routes.end() ? nullptr : &route->second;
    if (routed && routed->hasKernelOf(slot_)) return Found{routed};
    for (const auto& kernel : kernels->second) {
      const bool isOthers =
          (routed && routed->isInstalledAs(kernel)) || (isPrivate_ && isProgramsKernel(kernel));
      if (isOthers) continue;
      return Found{nullptr, &kernel.kernel};
    }
    return std::nullopt;
  }

  bool any(DispatchKeySet keys) const {
    for (const auto& kernels : entry_.kernels_)
      if (!c10::isAliasDispatchKey(kernels.first) && keys.has(kernels.first) && at(kernels.first))
        return true;
    return false;
  }

  // The order is torch's (OperatorEntry::computeDispatchTableEntryWithDebug).
  std::optional<Found> choose(DispatchKey key) const {
    if (auto found = at(key)) return found;
    for (const DispatchKey alias : {DispatchKey::CompositeExplicitAutogradNonFunctional,
                                    DispatchKey::CompositeExplicitAutograd})
      if (auto found = byAlias(key, alias)) return found;
    if (key != DispatchKey::Undefined)
      if (auto found = byAlias(key, DispatchKey::CompositeImplicitAutogradNestedTensor))
        return found;
    // An autograd key leaves it to the backend's own kernel.
    if (!any(c10::getBackendKeySetFromAutograd(key)) && !at(DispatchKey::CompositeExplicitAutograd))
      if (auto found = byAlias(key, DispatchKey::CompositeImplicitAutograd)) return found;
    if (key != DispatchKey::Undefined)
      for (const DispatchKey alias :
           {DispatchKey::Autograd, DispatchKey::FuncTorchBatchedDecomposition})
        if (auto found = byAlias(key, alias)) return found;
    return fallback(key);
  }

 private:
  std::optional<Found> byAlias(DispatchKey key, DispatchKey alias) const {
    if (key != DispatchKey::Undefined && !c10::isIncludedInAlias(key, alias)) return std::nullopt;
    return at(alias);
  }

  // May be a route's as well: that one looks for itself.
  static std::optional<Found> fallback(DispatchKey key) {
    const int index = c10::getDispatchTableIndexForDispatchKey(key);
    if (index < 0) return std::nullopt;
    const auto& kernel = c10::Dispatcher::singleton().backendFallbackKernels_[index].kernel;
    if (!kernel.isValid()) return std::nullopt;
    return Found{nullptr, &kernel};
  }

  Registry& registry_ = Registry::process();
  const InterpreterId slot_;
  const bool isPrivate_ = slot_.isInterpreter() && slot_ != InterpreterId::program();
  const OperatorEntry& entry_;
  const std::lock_guard<base::ForkMutex> guard_;
  // Against C++ libraries that register meanwhile.
  const std::lock_guard<std::mutex> dispatcherGuard_;
};

void requireRuntimeKey(DispatchKey key) {
  TORCH_CHECK(!c10::isAliasDispatchKey(key),
              "Alias keys do not have runtime kernel registrations.");  // torch's own words
}

}  // namespace

bool seesKernel(InterpreterId slot, const OperatorEntry& entry, DispatchKey key) {
  return View(slot, entry).at(key).has_value();
}

bool seesAnyKernel(InterpreterId slot, const OperatorEntry& entry, DispatchKeySet keys) {
  return View(slot, entry).any(keys);
}

std::optional<ChosenKernel> chooseKernel(InterpreterId slot, const OperatorEntry& entry,
                                         DispatchKey key) {
  const View view(slot, entry);
  const std::optional<Found> found = view.choose(key);
  if (!found) return std::nullopt;
  if (found->own) return ChosenKernel{found->own, {}};
  return ChosenKernel{nullptr, *found->shared};
}

bool seesComputedKernel(InterpreterId slot, const OperatorEntry& entry, DispatchKey key) {
  requireRuntimeKey(key);
  return View(slot, entry).choose(key).has_value();
}

void withComputedKernel(InterpreterId slot, const OperatorEntry& entry, DispatchKey key,
                        const std::function<void(const c10::KernelFunction&)>& use) {
  requireRuntimeKey(key);
  const View view(slot, entry);
  const std::optional<Found> found = view.choose(key);
  TORCH_CHECK(found, "no kernel for ", c10::toString(key), " for ", entry.name_);
  use(found->own ? found->own->newestOf(slot) : *found->shared);
}

}  // namespace multipy::bridge
