// The functions by which torch's core asks Python for something, and how it finds them.
//
//   up to 2.8         each libtorch_python makes a PyInterpreter of its own and marks the tensors
//                     that it gives a Python object with it, so that torch asks the right one by
//                     itself. A single one is asked only where no tensor is at hand (to report a
//                     missing fake implementation): the one that registered first, which is ours.
//   2.9 and later     libc10 knows one PyInterpreter for the process: it asks a registry for the
//                     "PyInterpreterHooks" once and keeps the answer.
#pragma once

#include <ATen/core/PythonOpRegistrationTrampoline.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/PyInterpreter.h>

#include "torch_bridge/symbols/features/python_objects.h"
#include "torch_bridge/symbols/torch_features.h"

#if MULTIPY_TORCH_ONE_INTERPRETER
#include <c10/core/impl/PyInterpreterHooks.h>
#endif

#include <cstddef>
#include <memory>
#include <type_traits>

namespace multipy::bridge::feature {

/// Base of the routed table: the functions that some torches lack or declare otherwise. Those that
/// a torch has not got override nothing, and are never compiled.
/// `Owners::of(thing)` is the table of the interpreter that has it, `Owners::calling(op, stack)`
/// that of the one that is to run Python for an operator.
template <typename Owners>
struct Table : c10::impl::PyInterpreterVTable {
  void incref(PyObject* object) const { Owners::of(object).incref(object); }
  void decref(PyObject* object) const { Owners::of(object).decref(object); }
  void decref(PyObject* object, bool isTensorsOrStorages) const {
    Owners::of(object).decref(object, isTensorsOrStorages);
  }
  bool try_incref(const c10::impl::PyObjectSlot& slot) const {
    const PyObject* const object = objectIn(slot);
    return object && Owners::of(object).try_incref(slot);
  }
  std::size_t refcnt(PyObject* object) const { return Owners::of(object).refcnt(object); }
  c10::SymBool sym_is_contiguous(const c10::TensorImpl* tensor, at::MemoryFormat format) const {
    return Owners::of(tensor).sym_is_contiguous(tensor, format);
  }
  void python_op_registration_trampoline(const c10::OperatorHandle& op, c10::DispatchKey key,
                                         c10::DispatchKeySet keys, torch::jit::Stack* stack,
                                         bool withKeys) const {
    Owners::calling(op, *stack).python_op_registration_trampoline(op, key, keys, stack, withKeys);
  }
  void python_op_registration_trampoline(const c10::OperatorHandle& op, c10::DispatchKey key,
                                         c10::DispatchKeySet keys, torch::jit::Stack* stack,
                                         bool withKeys, bool withOp) const {
    Owners::calling(op, *stack)
        .python_op_registration_trampoline(op, key, keys, stack, withKeys, withOp);
  }
};

#if MULTIPY_TORCH_ONE_INTERPRETER

/// What libc10 asks its registry for.
inline constexpr const char* kHooksName = "PyInterpreterHooks";

/// The PyInterpreter that torch's core asks, or null.
inline c10::impl::PyInterpreter* processInterpreter() {
  return c10::impl::PyInterpreterHooksRegistry()->Has(kHooksName)
             ? c10::impl::getGlobalPyInterpreter()
             : nullptr;
}

/// Makes ours that one, if there is none yet.
template <c10::impl::PyInterpreter* (*make)()>
void setProcessInterpreter() {
  struct Hooks final : c10::impl::PyInterpreterHooksInterface {
    c10::impl::PyInterpreter* getPyInterpreter() const override { return make(); }
  };
  auto* const registry = c10::impl::PyInterpreterHooksRegistry();
  if (registry->Has(kHooksName)) return;
  // torch up to 2.12 hands the registry's functions an empty structure.
  registry->Register(kHooksName, [](auto&&...) {
    return std::unique_ptr<c10::impl::PyInterpreterHooksInterface>(std::make_unique<Hooks>());
  });
}

/// Where a private copy registers its own.
using HooksRegistry = std::remove_pointer_t<decltype(c10::impl::PyInterpreterHooksRegistry())>;

#else

inline c10::impl::PyInterpreter* processInterpreter() {
  return at::impl::PythonOpRegistrationTrampoline::getInterpreter();
}

template <c10::impl::PyInterpreter* (*make)()>
void setProcessInterpreter() {
  if (!processInterpreter()) at::impl::PythonOpRegistrationTrampoline::registerInterpreter(make());
}

/// No private copy asks for one.
struct HooksRegistry {};

#endif

}  // namespace multipy::bridge::feature
