// How autograd's nodes are held: by std::shared_ptr, or by c10::intrusive_ptr (torch 2.13 and
// later). Asked of an edge of the graph.
#pragma once

#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace multipy::bridge::feature {

using NodePointer = decltype(torch::autograd::Edge::function);

template <typename Node, typename... Arguments>
NodePointer makeNode(Arguments&&... arguments) {
  if constexpr (std::is_same_v<NodePointer, std::shared_ptr<torch::autograd::Node>>) {
    // Not with torch's deleteNode, which takes a node's edges away before its destructor
    // could hand them to their owner. What they lead to has it: no deep recursion.
    return NodePointer(new Node(std::forward<Arguments>(arguments)...));
  } else {
    return c10::make_intrusive<Node>(std::forward<Arguments>(arguments)...);
  }
}

}  // namespace multipy::bridge::feature
