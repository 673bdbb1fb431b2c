// Functions of torch that exist once per process: redirecting torch's own calls of
// them, and calling them all the same.
//
// Threads: any.
#pragma once

#include <span>
#include <vector>

#include "loader/import_redirection.h"

namespace multipy::bridge {

using ImportRedirections = std::vector<loader::ImportRedirection>;

/// Has torch's shared libraries and the program call other functions in place of
/// exported ones of torch. Private libraries get other names (abi/redirects.def)
/// and are not touched, nor is the libtorch_python of a program that is a Python itself. When to do
/// it again: import_redirection.h. Throws LoadError.
void redirectTorch(std::span<const loader::ImportRedirection> redirections);

/// The same for what torch's operators refer to (libtorch_cpu, libtorch_cuda), and no other
/// library.
void redirectOperators(std::span<const loader::ImportRedirection> redirections);

template <typename Function>
loader::ImportRedirection redirection(const char* symbol, Function* function) {
  return {symbol, reinterpret_cast<const void*>(function)};
}

/// torch's own function by its address in libtorch_cpu or what that needs: what our
/// own references give may be a redirection or, in a program, a stub that leads to one.
/// `symbol` is a mangled name. Throws InternalError where there is no such function.
void* torchFunction(const char* symbol);
/// Null where there is no such function.
void* findTorchFunction(const char* symbol) noexcept;

/// The same in libtorch_cuda, or what that needs. Null where this torch has no CUDA.
void* findTorchCudaFunction(const char* symbol) noexcept;

template <typename Function>
Function* torchFunction(const char* symbol) {
  return reinterpret_cast<Function*>(torchFunction(symbol));
}
template <typename Function>
Function* findTorchFunction(const char* symbol) noexcept {
  return reinterpret_cast<Function*>(findTorchFunction(symbol));
}

template <typename Function>
Function* findTorchCudaFunction(const char* symbol) noexcept {
  return reinterpret_cast<Function*>(findTorchCudaFunction(symbol));
}

}  // namespace multipy::bridge
