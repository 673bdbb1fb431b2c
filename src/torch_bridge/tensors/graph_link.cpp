#include "torch_bridge/tensors/graph_link.h"

#include <c10/util/Exception.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/fork_mutex.h"
#include "base/keep_forever.h"
#include "base/per_interpreter.h"
#include "process/interpreter_threads.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/features/nodes.h"

namespace multipy::bridge {
namespace {

using torch::autograd::edge_list;
using torch::autograd::variable_list;

class GraphLink;

// The links whose graphs are alive, by their interpreters' slots. Never destroyed.
struct LiveLinks {
  base::ForkMutex lock;
  PerInterpreter<std::unordered_set<GraphLink*>> links MULTIPY_GUARDED_BY(lock);
  static LiveLinks& all() {
    static auto* const one = new LiveLinks;
    return *one;
  }
};

void dropEdges(edge_list edges, process::Incarnation owner) {
  // Without a permit the interpreter has gone, and with it what the nodes need.
  if (const process::DropPermit permit(owner); permit)
    edges.clear();
  else
    base::keepForever(std::move(edges));
}

// Edges that another thread is to drop. There from the link's beginning: where it ends no
// exception may be thrown, so no memory can be asked for.
class EdgesToDrop final : public process::Task {
 public:
  static void give(std::unique_ptr<EdgesToDrop> self, edge_list edges,
                   process::Incarnation owner) noexcept {
    self->edges_ = std::move(edges);
    self->owner_ = owner;
    EdgesToDrop* const given = self.release();
    process::postHousekeeping(owner.slot,
                              *given);  // refused: the interpreter has gone, and they stay
  }
  void run() noexcept override {
    const std::unique_ptr<EdgesToDrop> self(this);
    dropEdges(std::move(edges_), owner_);
  }

 private:
  edge_list edges_;
  process::Incarnation owner_{};
};

class GraphLink final : public torch::autograd::Node {
 public:
  GraphLink(edge_list graph, process::Incarnation owner) : Node(std::move(graph)), owner_(owner) {
    LiveLinks& live = LiveLinks::all();
    const base::Lock guard(live.lock);
    live.links[owner.slot].insert(this);
  }

  ~GraphLink() override {
    edge_list edges;
    {
      LiveLinks& live = LiveLinks::all();
      const base::Lock guard(live.lock);
      if (live.links[owner_.slot].erase(this) == 0) return;  // severed before
      edges = sever(live);
    }
    const InterpreterId here = process::Ownership::instance().currentPython();
    if (here == InterpreterId::none() || here == owner_.slot) {
      dropEdges(std::move(edges), owner_);
      return;
    }
    EdgesToDrop::give(std::move(toDrop_), std::move(edges), owner_);
  }

  variable_list apply(variable_list&& gradients) override {
    TORCH_CHECK(!severed_,
                "differentiating a tensor that came from a Python interpreter: its "
                "autograd graph ended with that interpreter; keep the InterpreterManager "
                "alive for as long as you differentiate");
    return std::move(gradients);
  }
  std::string name() const override { return "multipy::GraphLink"; }

  /// The graph; this link is not among them any more.
  edge_list sever([[maybe_unused]] LiveLinks& live) noexcept MULTIPY_REQUIRES(live.lock) {
    severed_ = true;
    return std::exchange(next_edges_, std::move(none_));
  }

 private:
  const process::Incarnation owner_;
  edge_list none_ = edge_list(next_edges_.size());  // as many that lead nowhere
  std::unique_ptr<EdgesToDrop> toDrop_ = std::make_unique<EdgesToDrop>();
  bool severed_ = false;
};

}  // namespace

void linkGraph(const at::Tensor& original, at::Tensor& result, InterpreterId owner) {
  torch::autograd::set_history(
      result, feature::makeNode<GraphLink>(torch::autograd::collect_next_edges(original),
                                           process::incarnation(owner)));
}

// No memory is taken: there may be none left.
void severGraphs(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return;
  LiveLinks& live = LiveLinks::all();
  for (;;) {
    edge_list graph;  // given up after the lock: nodes may take the owner's GIL
    const base::Lock guard(live.lock);
    auto& links = live.links[slot];
    if (links.empty()) return;
    graph = (*links.begin())->sever(live);
    links.erase(links.begin());
  }
}

}  // namespace multipy::bridge
