"""The graph itself: nodes, next_functions, metadata, names, saved values."""

import torch
from showing import show

x = torch.ones(3, requires_grad=True)
w = torch.full((3, 3), 2.0, requires_grad=True)
y = (w @ x).relu().pow(2).mean()


def walk(node, depth=0):
    if node is None:
        return
    print("  " * depth + node.name(), sorted(n for n in dir(node) if n.startswith("_saved")))
    for following, index in node.next_functions:
        walk(following, depth + 1)


walk(y.grad_fn)
show("exponent", y.grad_fn.next_functions[0][0]._saved_exponent)
node = y.grad_fn
node.metadata["note"] = "kept"
print(y.grad_fn.metadata, node is y.grad_fn, node._sequence_nr() > 0)
print(torch.autograd.graph.get_gradient_edge(y).output_nr)
show("by edge", torch.autograd.grad(y, [torch.autograd.graph.get_gradient_edge(x)]))
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    z = x.exp()
    z.detach().mul_(0)
    z.sum().backward()
show("mutated", x.grad)
