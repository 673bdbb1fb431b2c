// IValue ↔ Python object.
//
//   IValue                     Python
//   None Bool Int Double       None bool int float
//   ComplexDouble String       complex str (UTF-8)
//   Tensor                     torch.Tensor, by reference (tensors.h);
//                              an undefined tensor is None
//   typed and generic lists    list; back: typed where all elements are alike
//   Tuple, named tuple         tuple, collections.namedtuple
//   Dict                       dict
//   Enum                       enum member
//   Device Generator Stream    torch.device, torch.Generator, torch.Stream
//   Future, ScriptModule,      torch.futures.Future, torch.jit.ScriptModule,
//   custom class objects       torch.ScriptObject
//   SymInt SymFloat SymBool    torch.SymInt ... (plain numbers stay numbers)
//
// One way only: torch.dtype, torch.layout and torch.memory_format become Int,
// as in TorchScript (IValue has no kind for them); bytes and bytearray become
// String with the same bytes; numpy scalars become what they hold.
//
// Threads: with this interpreter's GIL.
#pragma once

#include <ATen/core/ivalue.h>

#include "abi/interpreter_api.h"
#include "interpreter/common/reference.h"

namespace multipy {

/// Null with `failure`.
Reference toPython(const c10::IValue& value, Failure& failure);

/// False with `failure` where `object` has no IValue form.
bool fromPython(PyObject* object, c10::IValue* out, Failure& failure);

/// The same for a result: the reference is given up as well.
bool resultFromPython(Reference result, c10::IValue* out, Failure& failure);

}  // namespace multipy
