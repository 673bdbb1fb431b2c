// Tensors, and whatever else of torch has a Python form, between C++ and this
// interpreter. A tensor that passes gets a fresh TensorImpl over a fresh
// StorageImpl (the host's transferTensor): a TensorImpl has room for one Python
// object, and one that already has another interpreter's must never be seen here.
// Only results that nothing else refers to go out as they are (tensorTakenFrom).
//
// torch is imported here when a tensor first comes in, and not before.
//
// Threads: with this interpreter's GIL. Nothing here throws: functions that can
// fail return null/false with `failure` filled.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "abi/interpreter_api.h"
#include "interpreter/common/reference.h"

namespace multipy {

/// A torch.Tensor that shares the bytes of `tensor`.
Reference tensorToPython(const at::Tensor& tensor, Failure& failure);

/// Is it a torch.Tensor (or a subclass)? False as long as torch is not loaded.
bool isTensor(PyObject* object);

/// The tensor as C++ may have it, or undefined with `failure`. `object` must
/// pass isTensor().
at::Tensor tensorFromPython(PyObject* object, Failure& failure);

/// The same for an object that passes isOnlyOurTensor() (tensor_objects.h) and is about to
/// be given up: the tensor may be gone from it afterwards.
at::Tensor tensorTakenFrom(PyObject* object, Failure& failure);

/// IValues that only torch knows how to show to Python (Device, Generator,
/// Future, Object ...).
Reference torchValueToPython(const c10::IValue& value, Failure& failure);

/// torch's own Python objects as IValues (torch.device, torch.dtype, futures,
/// script modules ...). False without a failure if `object` is none of them.
bool torchValueFromPython(PyObject* object, c10::IValue* out, Failure& failure);

}  // namespace multipy
