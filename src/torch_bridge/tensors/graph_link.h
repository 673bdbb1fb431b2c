// Results that require gradients, in C++.
//
// A result's graph stays where it was made; what crosses gets one more node in
// front of it, a GraphLink, through which C++ can differentiate. The graph holds
// code and objects of its interpreter (a Python autograd.Function, hooks), so
//   - it is given up with the GIL rules of any other drop: never by a thread
//     that is inside another interpreter;
//   - it is given up, all of it, when its interpreter ends: a tensor that C++
//     still has keeps its value then, and differentiating it is an error.
//
// Threads: any. Differentiating through a link while its interpreter is being
// destroyed is not allowed, as for any other use of it.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/interpreter_id.h"

namespace multipy::bridge {

/// Makes `result`, a transferred and detached alias of `original` in `owner`,
/// continue `original`'s graph.
void linkGraph(const at::Tensor& original, at::Tensor& result, InterpreterId owner);

/// A part of teardown, with no GIL held and before drops are closed: autograd graphs of this
/// slot that C++ still holds on to are given up.
void severGraphs(InterpreterId slot) noexcept;

}  // namespace multipy::bridge
