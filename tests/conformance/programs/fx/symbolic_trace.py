"""fx: tracing, printing, rewriting, recompiling."""

import torch
from showing import raised, show
from torch import fx


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x, bias=1.0):
        y = self.linear(x).relu() * self.scale
        return torch.add(y, bias), y.shape[0]


model = Model()
with torch.no_grad():
    model.linear.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, -4.0]]))
    model.linear.bias.zero_()
graph = fx.symbolic_trace(model)
print(graph.graph)
print(graph.code)
show("run", graph(torch.ones(1, 2)))
for node in graph.graph.nodes:
    if node.op == "call_method" and node.target == "relu":
        with graph.graph.inserting_after(node):
            new = graph.graph.call_function(torch.sigmoid, (node.args[0],))
        node.replace_all_uses_with(new)
        graph.graph.erase_node(node)
graph.graph.lint()
graph.recompile()
print(graph.code)
show("rewritten", graph(torch.ones(1, 2)))
raised("control flow", fx.symbolic_trace, lambda x: x if x.sum() > 0 else -x)
