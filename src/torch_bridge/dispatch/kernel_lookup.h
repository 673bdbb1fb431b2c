// Which kernels one interpreter sees of an operator.
//
// torch's tables hold what all interpreters have registered together. An
// interpreter must not notice the others: for it, an operator has the kernels
// that C++ registered and those that it registered itself. So where a call ends
// up at a key at which only others have a kernel, the way that torch chooses a
// kernel (directly, by an alias such as CompositeImplicitAutograd, by a
// backend's fallback) is gone again with the visible kernels only.
//
// Threads: all functions from any thread; they take the registration lock.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <optional>

#include "base/interpreter_id.h"

namespace multipy::bridge {

class KernelRoute;

/// Does `slot` see a kernel at exactly this key?
bool seesKernel(InterpreterId slot, const c10::impl::OperatorEntry& entry, c10::DispatchKey key);
/// At any of these, aliases aside?
bool seesAnyKernel(InterpreterId slot, const c10::impl::OperatorEntry& entry,
                   c10::DispatchKeySet keys);

/// What is to be called at a runtime key: the interpreter's own kernel of a
/// route, or one of the process's.
struct ChosenKernel {
  KernelRoute* own = nullptr;
  c10::KernelFunction shared;  // if `own` is null
};
/// What torch would choose at `key` if there were only the kernels that `slot`
/// sees. Nothing where torch would say that there is none.
std::optional<ChosenKernel> chooseKernel(InterpreterId slot, const c10::impl::OperatorEntry& entry,
                                         c10::DispatchKey key);

/// Would it choose any?
bool seesComputedKernel(InterpreterId slot, const c10::impl::OperatorEntry& entry,
                        c10::DispatchKey key);
/// Calls `use` with it where it is kept, under the registration lock: what that makes of it can ask
/// to be told of its end. Throws c10::Error if there is none.
void withComputedKernel(InterpreterId slot, const c10::impl::OperatorEntry& entry,
                        c10::DispatchKey key,
                        const std::function<void(const c10::KernelFunction&)>& use);

}  // namespace multipy::bridge
