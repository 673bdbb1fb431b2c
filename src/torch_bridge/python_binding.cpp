#include "torch_bridge/python_binding.h"

#include <dlfcn.h>

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "base/per_interpreter.h"
#include "multipy/runtime/Exception.h"
#include "process/ownership.h"
#include "torch_bridge/dispatch/py_interpreter_router.h"
#include "torch_bridge/dispatch/registration_router.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

struct Binding {
  TorchPython functions{};
  std::atomic<bool> bound{false};
};

PerInterpreter<Binding>& bindings() {
  static auto* const all = new PerInterpreter<Binding>;
  return *all;
}

class Lookup {
 public:
  explicit Lookup(void* handle) : handle_(handle) {}
  template <typename Pointer>
  void find(const char* name, Pointer& into) {
    find(std::span(&name, 1), into);
  }
  /// By the first of these names that it has.
  template <typename Pointer>
  void find(std::span<const char* const> names, Pointer& into) {
    for (const char* name : names)
      if ((into = reinterpret_cast<Pointer>(::dlsym(handle_, name)))) return;
    missing_.push_back("symbol " + std::string(names.front()) + ": not found by dlsym");
  }
  void check(InterpreterId slot) const {
    if (missing_.empty()) return;
    std::string text =
        "connecting interpreter " + std::to_string(slot.number()) + " to its libtorch_python:";
    for (const std::string& one : missing_) text += "\n  " + one;
    throw runtime::UnsupportedTorchError(text, missing_);
  }

 private:
  void* handle_;
  std::vector<std::string> missing_;
};

}  // namespace

void bindTorchPython(InterpreterId slot, void* handle) {
  const BindingSymbols& names = bindingSymbols();
  TorchPython functions{};
  void* (*getPyInterpreter)() = nullptr;
  Lookup lookup(handle);
  lookup.find(names.wrap, functions.wrap);
  lookup.find(names.variableClass, functions.variableClass);
  lookup.find(names.toPyObject, functions.toPyObject);
  lookup.find(names.toIValue, functions.toIValue);
  lookup.find(names.getPyInterpreter, getPyInterpreter);
  lookup.check(slot);

  openRegistrations(slot);
  setPyInterpreter(slot, getPyInterpreter());
  Binding& binding = bindings()[slot];
  binding.functions = functions;
  binding.bound.store(true, std::memory_order_release);
}

void unbindTorchPython(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return;
  bindings()[slot].bound.store(false);
  clearPyInterpreter(slot);
}

const TorchPython* torchPython(InterpreterId slot) {
  if (!slot.isInterpreter()) return nullptr;
  const Binding& binding = bindings()[slot];
  return binding.bound.load(std::memory_order_acquire) ? &binding.functions : nullptr;
}

}  // namespace multipy::bridge
