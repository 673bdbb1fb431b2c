// How a tensor knows its Python object.
//
//   up to 2.9         a slot in the tensor, which says which interpreter the object is of and
//                     which of the two owns the other
//   2.10 and later    the same slot without an owner: a bit in the tensor's reference count says
//                     that an object is there, which then holds the tensor
//   2.13 and later    and without a mark of whose the object is
#pragma once

#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/PyObjectSlot.h>

#include "torch_bridge/symbols/torch_features.h"

namespace multipy::bridge::feature {

/// The object in a slot, or null.
template <typename Slot>
const PyObject* objectIn(const Slot& slot) {
  if constexpr (requires { slot.load_pyobj(); })
    return slot.load_pyobj();
  else
    return slot._unchecked_untagged_pyobj();
}

/// The Python object of a tensor or storage, or null.
template <typename Thing>
const PyObject* objectOf(const Thing* thing) {
  return objectIn(*const_cast<Thing*>(thing)->pyobj_slot());
}

/// Sole owner, and no Python object attached. (A Python object that belongs to the storage, and
/// not the storage to it, is noted in the slot; one that holds the storage counts as an owner.)
inline bool isOnlyMemory(const c10::StorageImpl& storage) {
  return c10::raw::intrusive_ptr::use_count(const_cast<c10::StorageImpl*>(&storage)) == 1 &&
         !objectOf(&storage);
}

// The functions below use private members: only for files that are compiled to be
// allowed that. They are templates so that the other files need not be.

/// Nothing but this Python object has the tensor, not even weakly. False where objects cannot be
/// changed as below: tensors then always cross by being made anew.
template <typename Tensor>
bool isOnlyIn([[maybe_unused]] Tensor& tensor, [[maybe_unused]] const PyObject* object) {
#if MULTIPY_TORCH_OBJECT_IN_COUNT
  return tensor.combined_refcount_.load(std::memory_order_acquire) ==
             (c10::detail::kHasPyObject | c10::detail::kUniqueRef) &&
         objectOf(&tensor) == object;
#else
  return false;
#endif
}

/// Sole owner, no Python object, no weak reference.
template <typename Storage>
bool isOnlyOnes([[maybe_unused]] Storage& storage) {
#if MULTIPY_TORCH_OBJECT_IN_COUNT
  return storage.combined_refcount_.load(std::memory_order_acquire) == c10::detail::kUniqueRef;
#else
  return false;
#endif
}

// No other code knows the tensor, so that its words need not change at once.

/// The tensor has no Python object any more.
template <typename Tensor>
void leaveObject([[maybe_unused]] Tensor& tensor) {
#if MULTIPY_TORCH_OBJECT_IN_COUNT
  tensor.pyobj_slot()->clear();
  tensor.combined_refcount_.store(c10::detail::kUniqueRef, std::memory_order_relaxed);
#endif
}

/// A fresh tensor gets this one.
template <typename Tensor>
void enterObject([[maybe_unused]] Tensor& tensor, [[maybe_unused]] PyObject* object) {
#if MULTIPY_TORCH_OBJECT_IN_COUNT
  auto* const slot = tensor.pyobj_slot();
#if MULTIPY_TORCH_OBJECT_MARKED
  slot->pyobj_interpreter_.store(c10::impl::getGlobalPyInterpreter(), std::memory_order_relaxed);
#endif
  slot->store_pyobj(object);
  tensor.combined_refcount_.store(c10::detail::kHasPyObject | c10::detail::kUniqueRef,
                                  std::memory_order_relaxed);
#endif
}

}  // namespace multipy::bridge::feature
