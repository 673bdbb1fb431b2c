#include "torch_bridge/autograd/compiled_autograd.h"

#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/csrc/autograd/graph_task.h>

#include <atomic>
#include <memory>
#include <utility>

#include "abi/torch_routes.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"

namespace multipy::bridge {
namespace {

using feature::NodePointer;
using torch::autograd::edge_list;
using torch::autograd::Engine;
using torch::autograd::GraphTask;
using torch::autograd::Node;
using torch::autograd::variable_list;
using Compile = Engine::compiled_autograd_fn;

// ------------------------------------------------------- the switch

PerInterpreter<std::atomic<Compile>>& switches() {
  static auto* const all = new PerInterpreter<std::atomic<Compile>>{};
  return *all;
}

// ------------------------------------------------------- one backward pass

// What Engine::execute was asked for, from its beginning to where it runs the graph.
struct Asked {
  Compile compile;
  const edge_list& roots;
  const variable_list& inputs;
  bool accumulate;
  const edge_list& outputs;
  bool gradMode;
};
thread_local const Asked* asked = nullptr;

// Stands for the whole graph.
class CompiledGraph final : public Node {
 public:
  // `root` has all roots of the graph as its next nodes. (The task outlives its nodes.)
  CompiledGraph(const Asked& what, GraphTask& task, NodePointer root)
      : Node(), asked_(what), task_(task), root_(std::move(root)) {}

  variable_list apply(variable_list&&) override {
    // As the caller of backward() had it: the engine has set its own.
    const at::AutoGradMode mode(asked_.gradMode);
    task_.captured_vars_ = asked_.compile(root_, task_, asked_.accumulate, asked_.outputs);
    return {};
  }

 private:
  const Asked asked_;
  GraphTask& task_;
  const NodePointer root_;
};

variable_list execute(InterpreterId slot, void* engineAddress, const void* roots,
                      const void* inputs, bool keepGraph, bool createGraph, bool accumulate,
                      const void* outputs) {
  Engine& engine = *static_cast<Engine*>(engineAddress);
  const auto run = [&] {
    return engine.Engine::execute(*static_cast<const edge_list*>(roots),
                                  *static_cast<const variable_list*>(inputs), keepGraph,
                                  createGraph, accumulate, *static_cast<const edge_list*>(outputs));
  };
  const Compile compile = slot.isInterpreter() ? switches()[slot].load() : nullptr;
  if (!compile) return run();

  const Asked what{compile,
                   *static_cast<const edge_list*>(roots),
                   *static_cast<const variable_list*>(inputs),
                   accumulate,
                   *static_cast<const edge_list*>(outputs),
                   c10::GradMode::is_enabled()};
  struct Noted {
    explicit Noted(const Asked& what) { asked = &what; }
    ~Noted() { asked = nullptr; }
  } const noted(what);
  return run();
}

}  // namespace

NodePointer takeCompiledRoot(const std::shared_ptr<GraphTask>& task, const NodePointer& root) {
  const Asked* const what = std::exchange(asked, nullptr);
  if (!what) return {};
  NodePointer all = root;
  // Of a single root the engine makes the root of the task; the compiler wants
  // it below one that has the inputs.
  if (what->roots.size() == 1) {
    all = feature::makeNode<torch::autograd::GraphRoot>(what->roots, what->inputs);
    task->dependencies_[root.get()] += 1;
    task->nodes_in_graph_.insert(all.get());
    if (!task->exec_info_.empty()) task->exec_info_[all.get()].needed_ = true;
  }
  auto graph = feature::makeNode<CompiledGraph>(*what, *task, std::move(all));
  task->nodes_in_graph_.insert(graph.get());
  if (!task->exec_info_.empty()) task->exec_info_[graph.get()].needed_ = true;
  return graph;
}

void addCompiledAutogradRoutes(TorchRoutes& routes) {
  routes.compiledAutograd = [](InterpreterId slot, void* function) {
    if (slot.isInterpreter()) switches()[slot].store(reinterpret_cast<Compile>(function));
  };
  routes.engineExecute = execute;
}

void purgeCompiledAutograd(InterpreterId slot) {
  if (!slot.isInterpreter()) return;
  switches()[slot].store(nullptr);
}

}  // namespace multipy::bridge
