// torch.Tensor objects that change their tensor (src/torch_bridge/tensors/tensor_wrappers.cpp says
// which tensors do): the objects of arguments are used again for the arguments of later calls.
//
// An object is kept for that if it is as a new one would be: of the very class
// torch.Tensor, with nothing attached to it, and with no reference to it but ours, not
// even a weak one. The garbage collector does not know of it meanwhile.
//
// Threads: with this interpreter's GIL.
#pragma once

#include <ATen/core/Tensor.h>

#include "abi/interpreter_api.h"
#include "interpreter/common/reference.h"

namespace multipy {

/// Of torch.Tensor in the torch that is loaded here.
struct TensorLayout {
  PyTypeObject* type = nullptr;
  std::size_t tensor = 0;  // where in an object its at::Tensor is
  std::size_t end = 0;     // where what C++ keeps in an object ends
};

/// For what is said below of objects: from now on they are laid out so.
void setTensorLayout(const TensorLayout& layout);
const TensorLayout& tensorLayout();

inline at::Tensor& tensorInside(PyObject* object) {
  return *reinterpret_cast<at::Tensor*>(reinterpret_cast<char*>(object) + tensorLayout().tensor);
}

/// An object with a tensor that has just been transferred; may throw as torch does.
Reference tensorObject(const TorchPython& torch, at::Tensor transferred);

/// In place of the end of a reference to any object.
void giveUpObject(Reference object);

/// The object is a torch.Tensor, of no subclass, to which nothing but us has a reference.
bool isOnlyOurTensor(PyObject* object);

}  // namespace multipy
