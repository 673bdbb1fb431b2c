// Tensors that change their torch.Tensor object: HostServices::takeTensor and its relatives.
// The essay is in tensor_wrappers.cpp.
//
// Threads: with the GIL of the object's interpreter.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

struct _object;  // PyObject

namespace multipy::routing {

/// HostServices says what each does.
at::Tensor takeTensor(at::Tensor& inside, const _object* object, int owner, std::string& error);
bool dropTensor(at::Tensor& inside, const _object* object);
bool putTensor(at::Tensor& crossed, at::Tensor& inside, _object* object);

}  // namespace multipy::routing
