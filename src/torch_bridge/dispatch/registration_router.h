// torch::Library as private libtorch_pythons see it.
//
// What `torch.library` (and torch itself, about two thousand times during
// `import torch`) registers goes here. Three things are kept apart:
//   schemas      shared by the process. The first definition counts, others must
//                be equal. That it is used no more does not remove it, since
//                another thread may be between two look-ups of its name; it may
//                then be replaced by another schema.
//   namespaces   each interpreter may own (DEF) a namespace once, as in a process
//                of its own.
//   kernels      each interpreter's own: KernelRoute.
// Everything registered through a torch::Library is taken back when that Library
// is destroyed, by way of the handles it holds, as torch does it.
//
// Lock order: the registration lock is taken with a GIL held or not, before the
// dispatcher's lock, and never while waiting for a GIL; kernels die outside it.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

/// Fills in the functions for torch::Library, hasKernel and operatorFacts.
void addRegistrationRoutes(TorchRoutes& routes);

/// Removes all that `slot` has registered. With its GIL. What Python code there
/// still registers afterwards is dropped.
void purgeRegistrations(InterpreterId slot);
/// A new interpreter begins in `slot`.
void openRegistrations(InterpreterId slot);

struct RegistrationCounts {
  long routes, kernels;
};
RegistrationCounts registrationCounts();

}  // namespace multipy::bridge
