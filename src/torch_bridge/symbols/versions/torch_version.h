// What differs between the versions of torch that src/torch_bridge works with: chooses
// the file that describes the one we are compiled against. The rest of src/torch_bridge
// is the same for all of them.
//
//   torch_2_6.h    up to 2.8: each libtorch_python has a PyInterpreter of its own,
//                  and tensors are marked with it
//   torch_2_13.h   from 2.9 on: libc10 knows one PyInterpreter
//
// Each defines, in namespace multipy::bridge::version:
//
//   NodePointer, makeNode        how autograd's nodes are held
//   Table<Owners>                base of the routed PyInterpreter: the functions
//                                that other versions lack or declare otherwise
//   objectOf(TensorImpl)         the tensor's Python object or null
//   processInterpreter()         the PyInterpreter that torch's core asks, or null
//   setProcessInterpreter(make)  makes ours that one, if there is none yet
//   HooksRegistry                where a private copy registers its own
//   isOnlyMemory(StorageImpl)    sole owner, and no Python object attached
//   isOnlyIn(TensorImpl, object) nothing but this Python object has it, not even weakly;
//                                false where objects cannot be changed as below
//   isOnlyOnes(StorageImpl)      sole owner, no Python object, no weak reference
//   leaveObject(TensorImpl)      the tensor has no Python object any more
//   enterObject(TensorImpl, object)  a fresh one gets this
//   prepareProfiler, NoTracer, NoMemoryTracer, registerMemoryTracer, MakeMemoryTracer
//   UnwinderBase                  base of the routed unwinder
//   registerOpaqueType, unregisterOpaqueType, installObjectConversion
//
// The symbols that differ are in symbols_2_6.h and symbols_2_13.h (symbols.h).
// A new version of torch: docs/versions.md says how to add it.
#pragma once

#include "torch_bridge/symbols/versions/torch_series.h"

#if MULTIPY_TORCH_SERIES < 209
#include "torch_bridge/symbols/versions/torch_2_6.h"
#else
#include "torch_bridge/symbols/versions/torch_2_13.h"
#endif
