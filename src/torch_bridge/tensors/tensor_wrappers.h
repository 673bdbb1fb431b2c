// Tensors that change their torch.Tensor object: HostServices::moveTensor and its relatives.
// The essay is in tensor_wrappers.cpp.
//
// Threads: with the GIL of the object's interpreter.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "base/interpreter_id.h"

struct _object;  // PyObject

namespace multipy::bridge {

/// HostServices says what each does.
at::Tensor moveTensor(at::Tensor& inside, const _object* object, InterpreterId owner,
                      std::string& error);
bool dropTensor(at::Tensor& inside, const _object* object);
bool putTensor(at::Tensor& transferred, at::Tensor& inside, _object* object);

}  // namespace multipy::bridge
