#include "torch_bridge/dispatch/decompositions.h"

#include <torch/csrc/autograd/jit_decomp_interface.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/runtime/decomposition_registry.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "abi/torch_routes.h"
#include "base/fork_mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"

namespace multipy::bridge {
namespace {

using c10::FunctionSchema;
using torch::autograd::impl::JitDecompInterface;
using torch::jit::Graph;
using torch::jit::GraphFunction;

// As in torch: what is registered first runs, what is registered last is shown.
struct Decomposition {
  std::shared_ptr<GraphFunction> function;
  std::shared_ptr<Graph> graph;
};

// As in torch, an operator is known by the address of its schema.
using ByOperator = std::unordered_map<const FunctionSchema*, Decomposition>;

class Decompositions {
 public:
  static Decompositions& process() {
    static auto* const one = new Decompositions;
    return *one;
  }

  void add(InterpreterId slot, const FunctionSchema& schema, Decomposition decomposition) {
    const base::Lock guard(lock_);
    const auto [place, added] = all_[slot].try_emplace(&schema, decomposition);
    if (!added) std::swap(place->second.graph, decomposition.graph);
  }  // what is not wanted goes with the caller's argument, without the lock

  Decomposition find(InterpreterId slot, const FunctionSchema& schema) const {
    if (!slot.isInterpreter()) return {};
    const base::SharedLock guard(lock_);
    const auto found = all_[slot].find(&schema);
    return found == all_[slot].end() ? Decomposition{} : found->second;
  }

  void clear(InterpreterId slot) {
    ByOperator gone;
    const base::Lock guard(lock_);
    std::swap(all_[slot], gone);
  }

 private:
  mutable base::ForkSharedMutex lock_;
  PerInterpreter<ByOperator> all_ MULTIPY_GUARDED_BY(lock_);
};

std::shared_ptr<GraphFunction> ofCurrent(const FunctionSchema& schema) {
  return Decompositions::process().find(process::Ownership::instance().current(), schema).function;
}

// What autograd asks: this interpreter's decompositions first, then torch's own.
class OfCurrentInterpreter final : public JitDecompInterface {
 public:
  explicit OfCurrentInterpreter(const JitDecompInterface* torchs) : torchs_(torchs) {}

  bool has_jit_decomposition(const FunctionSchema& schema) const override {
    return ofCurrent(schema) || (torchs_ && torchs_->has_jit_decomposition(schema));
  }

  void run_jit_decomposition(const c10::OperatorHandle& op,
                             torch::jit::Stack* stack) const override {
    const std::shared_ptr<GraphFunction> function = ofCurrent(op.schema());
    if (!function) {
      TORCH_CHECK(torchs_, "this build of torch has no decompositions");
      return torchs_->run_jit_decomposition(op, stack);
    }
    function->run(*stack);
    // TorchScript returns several values as one tuple, an operator leaves each.
    if (!stack->back().isTuple()) return;
    const auto results = std::move(stack->back()).toTuple();
    stack->pop_back();
    for (const c10::IValue& result : results->elements()) stack->push_back(result);
  }

 private:
  const JitDecompInterface* const torchs_;
};

void installOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    // For ever: torch keeps the address.
    torch::autograd::impl::setJitDecompImpl(
        new OfCurrentInterpreter(torch::autograd::impl::getJitDecompImpl()));
  });
}

void registerDecomposition(InterpreterId slot, const FunctionSchema* schema,
                           std::shared_ptr<void>* given) {
  if (!slot.isInterpreter()) return;  // no thread is ever in the resident copy
  auto graph = std::static_pointer_cast<Graph>(*given);
  // What torch does with a graph that is registered.
  torch::jit::Inline(*graph);
  for (int pass = 0; pass < 2; ++pass) {
    torch::jit::PeepholeOptimize(graph);
    torch::jit::ConstantPropagationImmutableTypes(graph);
  }
  installOnce();
  // The simple executor: the arguments may be tensors of any kind, batched ones included.
  auto function = std::make_shared<GraphFunction>(schema->name(), graph, nullptr,
                                                  torch::jit::ExecutorExecutionMode::SIMPLE);
  Decompositions::process().add(slot, *schema, {std::move(function), std::move(graph)});
}

std::optional<std::shared_ptr<void>> getDecomposition(InterpreterId slot,
                                                      const FunctionSchema* schema) {
  if (const auto own = Decompositions::process().find(slot, *schema).graph) return own;
  return torch::jit::GetDecomposition(*schema);
}

}  // namespace

void addDecompositionRoutes(TorchRoutes& routes) {
  routes.registerDecomposition = registerDecomposition;
  routes.getDecomposition = getDecomposition;
}

void purgeDecompositions(InterpreterId slot) {
  if (slot.isInterpreter()) Decompositions::process().clear(slot);
}

}  // namespace multipy::bridge
