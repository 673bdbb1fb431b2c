#include "torch/compiler_interface.h"

#include <torch/csrc/dynamo/compiled_autograd.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "torch/ownership.h"
#include "torch/supported_torch.h"
#include "torch/torch_functions.h"

namespace multipy::routing {
namespace {

using torch::autograd::functional_apply_t;
using torch::autograd::ivalue_list;
using torch::autograd::variable_list;
using Interface = torch::dynamo::autograd::PyCompilerInterface;
using InterfacePointer = std::unique_ptr<Interface>;

// ------------------------------------------------------- functions that nodes have introduced

struct Introduced {
  int slot;  // where it was introduced first
  std::string name;
  functional_apply_t function;
  std::vector<at::TypePtr> arguments;
  bool isCustom;
  bool isTraceable;
};

class IntroducedFunctions {
 public:
  static IntroducedFunctions& process() {
    static auto* const one = new IntroducedFunctions;
    return *one;
  }

  // Returns the name that nodes call it by from now on.
  std::string keep(const std::string& wanted, Introduced function) {
    const std::lock_guard guard(lock_);
    std::string name = wanted;
    // Counted by each interpreter on its own, so another one may have it.
    if (function.isCustom)
      while (functions_.contains(name)) name += "_";
    functions_.emplace(name, std::make_shared<const Introduced>(std::move(function)));
    return name;
  }

  std::map<std::string, std::shared_ptr<const Introduced>> all() const {
    const std::lock_guard guard(lock_);
    return functions_;
  }

  // The code of a custom function may lie in a library that goes with its interpreter.
  void forgetCustom(int slot) {
    const std::lock_guard guard(lock_);
    std::erase_if(functions_, [slot](const auto& entry) {
      return entry.second->isCustom && entry.second->slot == slot;
    });
  }

 private:
  mutable std::mutex lock_;
  std::map<std::string, std::shared_ptr<const Introduced>> functions_;  // guarded by lock_
};

// ------------------------------------------------------- one interpreter's

// By the name that nodes use: that of the interpreter's own compiler. With its GIL.
using KnownNames = std::map<std::string, std::string>;

// In front of libtorch_python's own.
class SharedNames final : public Interface {
 public:
  SharedNames(int slot, KnownNames& known, InterfacePointer own)
      : slot_(slot), known_(known), own_(std::move(own)) {}

  std::string bind_function(PyObject* compiler, const std::string& name, functional_apply_t function,
                            std::vector<at::TypePtr> arguments, bool isCustom,
                            bool isTraceable) const override {
    learn(compiler);
    if (const auto known = known_.find(name); !isCustom && known != known_.end())
      return name;  // from another interpreter, meanwhile
    const std::string own =
        own_->bind_function(compiler, name, function, arguments, isCustom, isTraceable);
    std::string shared = IntroducedFunctions::process().keep(
        own, {slot_, name, std::move(function), std::move(arguments), isCustom, isTraceable});
    known_[shared] = own;
    return shared;
  }

  variable_list call_function(PyObject* compiler, const char* method, const std::string& name,
                              const variable_list& inputs, const ivalue_list& arguments,
                              const c10::IValue& outputs) const override {
    return own_->call_function(compiler, method, ownName(compiler, name), inputs, arguments, outputs);
  }
  variable_list call_copy_slices_prologue(PyObject* compiler, const variable_list& inputs,
                                          const at::TensorGeometry& base,
                                          const at::TensorGeometry& view) const override {
    learn(compiler);
    return own_->call_copy_slices_prologue(compiler, inputs, base, view);
  }
  variable_list call_copy_slices_epilogue(PyObject* compiler, const std::vector<bool>& needed,
                                          const at::Tensor& result, const variable_list& all,
                                          const at::Tensor& slice) const override {
    learn(compiler);
    return own_->call_copy_slices_epilogue(compiler, needed, result, all, slice);
  }
  at::Tensor call_unpack(PyObject* compiler, std::optional<std::size_t> hook,
                         std::size_t input) const override {
    learn(compiler);
    return own_->call_unpack(compiler, hook, input);
  }
  at::Tensor call_accumulate_grad(PyObject* compiler, const at::Tensor& variable,
                                  const at::Tensor& variableGrad, const at::Tensor& grad,
                                  bool hasPostHooks) const override {
    learn(compiler);
    return own_->call_accumulate_grad(compiler, variable, variableGrad, grad, hasPostHooks);
  }

 private:
  // Tells this compiler what others have been told. (It looks some up by itself,
  // so naming them is not what makes them known.)
  void learn(PyObject* compiler) const {
    for (const auto& [name, function] : IntroducedFunctions::process().all())
      if (!known_.contains(name))
        known_[name] =
            own_->bind_function(compiler, function->name, function->function, function->arguments,
                                function->isCustom, function->isTraceable);
  }

  // A name that no node has introduced is the compiler's own, or one that it refuses.
  const std::string& ownName(PyObject* compiler, const std::string& name) const {
    learn(compiler);
    const auto known = known_.find(name);
    return known == known_.end() ? name : known->second;
  }

  const int slot_;
  KnownNames& known_;
  const InterfacePointer own_;
};

struct Compiler {
  KnownNames known;
  InterfacePointer interface;  // while it compiles
};

// Each is used with its interpreter's GIL.
Compiler* compilerOf(int slot) {
  static auto* const all = new std::array<Compiler, kMaxInterpreters>;
  return slot >= 0 && slot < kMaxInterpreters ? &(*all)[slot] : nullptr;
}

const InterfacePointer& interfaceOf(int slot) {
  const Compiler* const compiler = compilerOf(slot);
  TORCH_INTERNAL_ASSERT(compiler && compiler->interface,
                        "a node asks for the compiler of compiled autograd, and none is at work");
  return compiler->interface;
}

// In torch's shared libraries.
const InterfacePointer& currentInterface() {
  return interfaceOf(Ownership::process().current());
}

void begin(int slot, void* interface) {
  Compiler* const compiler = compilerOf(slot);
  TORCH_CHECK_NOT_IMPLEMENTED(
      compiler && !compiler->interface,
      "Trying to run compiled autograd within another compiled autograd call, this is not "
      "supported yet.");
  compiler->interface = std::make_unique<SharedNames>(
      slot, compiler->known, std::move(*static_cast<InterfacePointer*>(interface)));
}

void end(int slot) {
  if (Compiler* const compiler = compilerOf(slot)) compiler->interface.reset();
}

}  // namespace

void addCompilerInterfaceRoutes(TorchRoutes& routes) {
  routes.beginCompiling = begin;
  routes.endCompiling = end;
  routes.compilerInterface = [](int slot) -> const void* { return &interfaceOf(slot); };
}

void redirectCompilerInterface() {
  redirectTorch(std::array{redirection(compilerInterfaceSymbol(), currentInterface)});
}

void purgeCompilerInterface(int slot) {
  IntroducedFunctions::process().forgetCustom(slot);
  if (Compiler* const compiler = compilerOf(slot)) *compiler = {};
}

}  // namespace multipy::routing
