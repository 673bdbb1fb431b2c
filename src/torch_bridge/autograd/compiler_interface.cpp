#include "torch_bridge/autograd/compiler_interface.h"

#include <torch/csrc/dynamo/compiled_autograd.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "abi/torch_routes.h"
#include "base/fork_mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

using torch::autograd::functional_apply_t;
using torch::autograd::ivalue_list;
using torch::autograd::variable_list;
using Interface = torch::dynamo::autograd::PyCompilerInterface;
using InterfacePointer = std::unique_ptr<Interface>;

// ------------------------------------------------------- functions that nodes have introduced

struct Introduced {
  functional_apply_t function;
  std::vector<at::TypePtr> arguments;
  bool isTraceable;
};
using IntroducedPointer = std::shared_ptr<const Introduced>;

class IntroducedFunctions {
 public:
  static IntroducedFunctions& process() {
    static auto* const one = new IntroducedFunctions;
    return *one;
  }

  void add(const std::string& name, Introduced function) {
    auto made = std::make_shared<const Introduced>(std::move(function));
    const base::Lock guard(lock_);
    functions_.emplace(name, std::move(made));
  }

  std::map<std::string, IntroducedPointer> all() const {
    const base::Lock guard(lock_);
    return functions_;
  }

  // A node notes that it has introduced its function just before it does so: another
  // thread's that has seen the note may be here first. (Which is so rare that it may ask
  // again and again: a condition variable has a lock of its own, of which forks know nothing.)
  void awaitName(const std::string& name) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!contains(name) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(kPause);
  }

 private:
  // (Nothing but C++ runs between the two, and nothing that waits for a GIL.)
  static constexpr std::chrono::seconds kPatience{10};
  static constexpr std::chrono::microseconds kPause{50};

  bool contains(const std::string& name) const {
    const base::Lock guard(lock_);
    return functions_.contains(name);
  }

  mutable base::ForkMutex lock_;
  std::map<std::string, IntroducedPointer> functions_ MULTIPY_GUARDED_BY(lock_);
};

// ------------------------------------------------------- one interpreter's

// What nodes of torch's shared libraries speak to, in front of libtorch_python's own.
// With the interpreter's GIL. Torches declare these functions in different ways: those here that
// a torch has not got override nothing, and are never compiled, this being a template.
template <typename Interface>
class SharedNames final : public Interface {
 public:
  // `known`: the functions that this interpreter's compiler has been told, now or
  // in an earlier compilation.
  SharedNames(std::set<std::string>& known, Interface& own) : known_(known), own_(own) {}

  // The compiler is told when the function is needed (learn). So the node's note is
  // followed by the function at once, and not when this interpreter's Python has run.
  std::string bind_function(PyObject* compiler, const std::string& name,
                            functional_apply_t function, std::vector<at::TypePtr> arguments,
                            bool isCustom, bool isTraceable) const {
    if (!isCustom) {
      IntroducedFunctions::process().add(name,
                                         {std::move(function), std::move(arguments), isTraceable});
      return name;
    }
    // Introduced anew for each use, under a name that the compiler gives.
    return *custom_
                .insert(own_.bind_function(compiler, name, std::move(function),
                                           std::move(arguments), isCustom, isTraceable))
                .first;
  }

  variable_list call_function(PyObject* compiler, const char* method, const std::string& name,
                              const variable_list& inputs, const ivalue_list& arguments,
                              const c10::IValue& outputs) const {
    learn(compiler);
    if (!known_.contains(name) && !custom_.contains(name)) {
      IntroducedFunctions::process().awaitName(name);
      learn(compiler);
    }
    return own_.call_function(compiler, method, name, inputs, arguments, outputs);
  }
  variable_list call_copy_slices_prologue(PyObject* compiler, const variable_list& inputs,
                                          const at::TensorGeometry& base,
                                          const at::TensorGeometry& view) const {
    learn(compiler);
    return own_.call_copy_slices_prologue(compiler, inputs, base, view);
  }
  variable_list call_copy_slices_epilogue(PyObject* compiler, const std::vector<bool>& needed,
                                          const at::Tensor& result, const variable_list& all,
                                          const at::Tensor& slice) const {
    learn(compiler);
    return own_.call_copy_slices_epilogue(compiler, needed, result, all, slice);
  }
  at::Tensor call_unpack(PyObject* compiler, std::optional<std::size_t> hook,
                         std::size_t input) const {
    learn(compiler);
    return own_.call_unpack(compiler, hook, input);
  }
  at::Tensor call_accumulate_grad(PyObject* compiler, const at::Tensor& variable,
                                  const at::Tensor& variableGrad, const at::Tensor& grad,
                                  bool hasPostHooks) const {
    learn(compiler);
    return own_.call_accumulate_grad(compiler, variable, variableGrad, grad, hasPostHooks);
  }
  // torch 2.8 to 2.12
  void call_accumulate_grad(PyObject* compiler, const at::Tensor& variable, const at::Tensor& grad,
                            bool hasPostHooks) const {
    learn(compiler);
    own_.call_accumulate_grad(compiler, variable, grad, hasPostHooks);
  }
  // torch 2.7
  std::string bind_function(PyObject* compiler, const std::string& name,
                            functional_apply_t function, std::vector<at::TypePtr> arguments,
                            bool isCustom, bool isTraceable) {
    return std::as_const(*this).bind_function(compiler, name, std::move(function),
                                              std::move(arguments), isCustom, isTraceable);
  }
  variable_list call_function(PyObject* compiler, const char* method, const std::string& name,
                              const variable_list& inputs, const ivalue_list& arguments,
                              const c10::IValue& outputs) {
    return std::as_const(*this).call_function(compiler, method, name, inputs, arguments, outputs);
  }
  variable_list call_copy_slices_prologue(PyObject* compiler, const variable_list& inputs,
                                          const at::TensorGeometry& base,
                                          const at::TensorGeometry& view) {
    return std::as_const(*this).call_copy_slices_prologue(compiler, inputs, base, view);
  }
  variable_list call_copy_slices_epilogue(PyObject* compiler, const std::vector<bool>& needed,
                                          const at::Tensor& result, const variable_list& all,
                                          const at::Tensor& slice) {
    return std::as_const(*this).call_copy_slices_epilogue(compiler, needed, result, all, slice);
  }
  at::Tensor call_unpack(PyObject* compiler, std::optional<std::size_t> hook, std::size_t input) {
    return std::as_const(*this).call_unpack(compiler, hook, input);
  }

 private:
  // Tells the compiler what nodes have introduced, in whichever interpreter. (It
  // looks some up by itself, so naming them is not what makes them known.)
  void learn(PyObject* compiler) const {
    for (const auto& [name, introduced] : IntroducedFunctions::process().all()) {
      if (known_.contains(name)) continue;
      own_.bind_function(compiler, name, introduced->function, introduced->arguments, false,
                         introduced->isTraceable);
      known_.insert(name);
    }
  }

  std::set<std::string>& known_;
  mutable std::set<std::string> custom_;
  Interface& own_;
};

struct Compiler {
  std::set<std::string> known;
  // While it compiles: libtorch_python's, for private libraries, and what stands in
  // front of it, for the process's.
  InterfacePointer own, shared;
};

// Each is used with its interpreter's GIL.
Compiler* compilerOf(InterpreterId slot) {
  static auto* const all = new PerInterpreter<Compiler>;
  return all->find(slot);
}

const Compiler& compilerAtWork(InterpreterId slot) {
  const Compiler* const compiler = compilerOf(slot);
  TORCH_INTERNAL_ASSERT(compiler && compiler->own,
                        "a node asks for the compiler of compiled autograd, and none is at work");
  return *compiler;
}

// In torch's shared libraries.
const InterfacePointer& currentInterface() {
  return compilerAtWork(process::Ownership::instance().currentPython()).shared;
}

void begin(InterpreterId slot, void*, void* interface) {
  Compiler* const compiler = compilerOf(slot);
  TORCH_CHECK_NOT_IMPLEMENTED(
      compiler && !compiler->own,
      "Trying to run compiled autograd within another compiled autograd call, this is not "
      "supported yet.");
  compiler->own = std::move(*static_cast<InterfacePointer*>(interface));
  compiler->shared = std::make_unique<SharedNames<Interface>>(compiler->known, *compiler->own);
}

void end(InterpreterId slot, void*) {
  Compiler* const compiler = compilerOf(slot);
  if (!compiler) return;
  compiler->shared.reset();
  compiler->own.reset();
}

}  // namespace

void addCompilerInterfaceRoutes(TorchRoutes& routes) {
  routes.beginCompiling = begin;
  routes.endCompiling = end;
  routes.compilerInterface = [](InterpreterId slot) -> const void* {
    return &compilerAtWork(slot).own;
  };
}

ImportRedirections compilerInterfaceRedirections() {
  torchFunction(compilerInterfaceSymbol());  // throws where there is none
  return {redirection(compilerInterfaceSymbol(), currentInterface)};
}

void purgeCompilerInterface(InterpreterId slot) {
  end(slot, nullptr);
  if (Compiler* const compiler = compilerOf(slot)) compiler->known.clear();
}

}  // namespace multipy::bridge
