#include "torch/graph_link.h"

#include <c10/util/Exception.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/variable.h>

#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "interpreter/fork_mutex.h"
#include "torch/housekeeping.h"
#include "torch/ownership.h"
#include "torch/torch_router.h"
#include "torch/versions/torch_version.h"

namespace multipy::routing {
namespace {

using torch::autograd::edge_list;
using torch::autograd::variable_list;

class GraphLink;

// The links whose graphs are alive. Never destroyed.
struct LiveLinks {
  ForkMutex lock;
  std::unordered_set<GraphLink*> links;
  static LiveLinks& all() {
    static auto* const one = new LiveLinks;
    return *one;
  }
};

void dropEdges(edge_list edges, Incarnation owner) {
  // Without a permit the interpreter has gone, and with it what the nodes need.
  if (const DropPermit permit(owner); permit)
    edges.clear();
  else
    [[maybe_unused]] auto* const leaked = new edge_list(std::move(edges));
}

class GraphLink final : public torch::autograd::Node {
 public:
  GraphLink(edge_list graph, Incarnation owner) : Node(std::move(graph)), owner_(owner) {
    LiveLinks& live = LiveLinks::all();
    const std::lock_guard guard(live.lock);
    live.links.insert(this);
  }

  ~GraphLink() override {
    edge_list edges;
    {
      LiveLinks& live = LiveLinks::all();
      const std::lock_guard guard(live.lock);
      if (live.links.erase(this) == 0) return;  // severed before
      edges = sever();
    }
    const int here = Ownership::process().current();
    if (here == kNone || here == owner_.slot) {
      dropEdges(std::move(edges), owner_);
      return;
    }
    auto* const waiting = new edge_list(std::move(edges));
    const Incarnation owner = owner_;
    postHousekeeping(owner.slot, [waiting, owner] {
      dropEdges(std::move(*waiting), owner);
      delete waiting;
    });  // refused: the interpreter has gone, and they stay
  }

  variable_list apply(variable_list&& gradients) override {
    TORCH_CHECK(!severed_, "differentiating a tensor that came from a Python interpreter: its "
                           "autograd graph ended with that interpreter; keep the InterpreterManager "
                           "alive for as long as you differentiate");
    return std::move(gradients);
  }
  std::string name() const override { return "multipy::GraphLink"; }

  int slot() const noexcept { return owner_.slot; }

  /// The graph; LiveLinks' lock is held and this link is not among them any more.
  edge_list sever() {
    severed_ = true;
    return std::exchange(next_edges_, edge_list(next_edges_.size()));
  }

 private:
  const Incarnation owner_;
  bool severed_ = false;
};

}  // namespace

void linkGraph(const at::Tensor& original, at::Tensor& result, int owner) {
  torch::autograd::set_history(
      result, version::makeNode<GraphLink>(torch::autograd::collect_next_edges(original),
                                           incarnation(owner)));
}

void severGraphs(int slot) {
  std::vector<edge_list> graphs;  // given up after the lock: nodes may take the owner's GIL
  LiveLinks& live = LiveLinks::all();
  const std::lock_guard guard(live.lock);  // declared after `graphs`: released before they die
  for (auto link = live.links.begin(); link != live.links.end();) {
    if ((*link)->slot() != slot) {
      ++link;
      continue;
    }
    graphs.push_back((*link)->sever());
    link = live.links.erase(link);
  }
}

}  // namespace multipy::routing
