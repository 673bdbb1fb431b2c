"""fx: interpreters, transformers, patterns, shape propagation, splitting, pickling."""

import io
import operator
import pickle

import torch
from showing import show
from torch import fx
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.split_module import split_module

f = lambda x, y: torch.neg(x + y) * torch.relu(x)
graph = fx.symbolic_trace(f)
x, y = torch.tensor([1.0, -2.0]), torch.tensor([3.0, 4.0])


class Logging(fx.Interpreter):
    def run_node(self, n):
        result = super().run_node(n)
        print(n.op, n.name, result if isinstance(result, torch.Tensor) else type(result).__name__)
        return result


show("interpreted", Logging(graph).run(x, y))
matches = fx.subgraph_rewriter.replace_pattern(graph, lambda a, b: torch.neg(a + b), lambda a, b: torch.sub(-a, b))
print(len(matches), graph.code)
ShapeProp(graph).propagate(x, y)
print([(n.name, tuple(n.meta["tensor_meta"].shape)) for n in graph.graph.nodes if "tensor_meta" in n.meta])
parts = split_module(graph, graph, lambda node: 1 if node.op == "output" or node.target is operator.mul else 0)
print(parts.code, [name for name, _ in parts.named_children()])
show("split", parts(x, y))
show("pickled", pickle.loads(pickle.dumps(graph))(x, y))
print(graph.graph.find_nodes(op="call_function", target=operator.mul))
graph.graph.eliminate_dead_code()
print(len(graph.graph.nodes))
