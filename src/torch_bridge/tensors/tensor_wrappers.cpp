// What leaves its torch.Tensor object, and what may be put into one.
//
// What a call returns is mostly a tensor that was computed in it, which nothing but the
// object in our hands has, and whose bytes nothing else has. Nothing is won by a second
// TensorImpl over a second StorageImpl (tensor_transfer.cpp), of which the first ones then
// die: the tensor leaves its object and is C++'s. What was an argument and is returned
// can go the same way once the call's own reference is dropped: its StorageImpl is the
// one that was made when it came in.
//
// That nothing else refers to it is known from counts, under the GIL:
//   the object      one reference (the caller has looked)
//   the TensorImpl  one reference, the object's, and no weak one, by which torch's caches
//                   would find it
//   its autograd    nothing: no graph, no view of another tensor, no gradient, no hooks
//   its StorageImpl one reference, the TensorImpl's, no weak one, no Python object; and its
//                   bytes are torch's own or held by transferred_storage.h, so that they can
//                   be freed without the interpreter
// If any of it does not hold, it crosses like all others.
//
// An object whose tensor has gone can take the next one: making and ending torch.Tensor
// objects costs more than all the rest of a transfer (torch gives the GIL up at the end of
// each). interpreter/values/tensor_objects.h keeps a few.
#include "torch_bridge/tensors/tensor_wrappers.h"

#include <string>
#include <utility>

#include "base/interpreter_id.h"
#include "torch_bridge/symbols/features/python_objects.h"
#include "torch_bridge/tensors/tensor_transfer.h"
#include "torch_bridge/tensors/transfer_counts.h"
#include "torch_bridge/tensors/transferred_storage.h"

namespace multipy::bridge {
namespace {

// It and its storage belong to nothing else, and autograd knows nothing of it.
bool isAlone(c10::TensorImpl& tensor, const PyObject* object) {
  return feature::isOnlyIn(tensor, object) && !tensor.autograd_meta_ && isPlain(tensor) &&
         feature::isOnlyOnes(*tensor.storage_.storage_impl_);
}

}  // namespace

at::Tensor moveTensor(at::Tensor& inside, const PyObject* object, InterpreterId owner,
                      std::string& error) {
  c10::TensorImpl& tensor = *inside.unsafeGetTensorImpl();
  if (!isAlone(tensor, object) || !hasNoOwner(*tensor.storage_.storage_impl_))
    return transferTensor(inside, owner, error);
  feature::leaveObject(tensor);
  tensor.set_allow_tensor_metadata_change(true);  // as what crosses has it
  countTransfer();
  return std::move(inside);
}

bool dropTensor(at::Tensor& inside, const PyObject* object) {
  c10::TensorImpl& tensor = *inside.unsafeGetTensorImpl();
  // Freeing bytes may take long or run the program's own code: torch does it without the GIL.
  if (!isAlone(tensor, object) || !outlivedByBytes(*tensor.storage_.storage_impl_)) return false;
  feature::leaveObject(tensor);
  inside.reset();
  return true;
}

bool putTensor(at::Tensor& transferred, at::Tensor& inside, PyObject* object) {
  if (transferred.device().type() == c10::kXLA) return false;  // may have a class of its own
  feature::enterObject(*transferred.unsafeGetTensorImpl(), object);
  inside = std::move(transferred);
  return true;
}

}  // namespace multipy::bridge
