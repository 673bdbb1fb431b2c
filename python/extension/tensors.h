// torch.Tensor objects of the program's own Python.
//
// Threads: with the program's GIL.
#pragma once

#include <ATen/core/Tensor.h>
#include <Python.h>

namespace multipy::host {

/// Of an object of torch.Tensor. False with a Python exception.
bool unwrapTensor(PyObject* object, at::Tensor& tensor);
/// Whether it is a torch.Tensor, of no other class, and without attributes of its own.
bool isPlainTensor(PyObject* object);
/// A new reference; null with a Python exception. Imports torch if need be.
PyObject* wrapTensor(const at::Tensor& tensor);

}  // namespace multipy::host
