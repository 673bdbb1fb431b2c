"""Graphs of TorchScript: passes, profiling executor, gradients, printing."""

import contextlib
import io

import torch
from showing import show


@torch.jit.script
def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    a = x + y
    b = x + y
    dead = a * 3
    return (a * b).tanh()


x = torch.tensor([0.1, 0.2], requires_grad=True)
for _ in range(4):
    f(x, x).sum().backward()
show("grad", x.grad)
graph = f.graph.copy()
torch._C._jit_pass_cse(graph)
torch._C._jit_pass_dce(graph)
print(graph)
print([n.kind() for n in graph.nodes()], [str(i.type()) for i in graph.inputs()])
show("graph", torch._C._create_function_from_graph("copied", graph)(torch.ones(1), torch.ones(1)))


@torch.jit.script
def talk(x: int) -> None:
    print("x is", x, [1.5], "and", torch.ones(1))


talk(3)
with torch.jit.optimized_execution(False):
    show("unoptimised", f(torch.ones(1), torch.ones(1)))
print(torch._C._jit_set_profiling_executor(True), torch.jit.script(torch.nn.Identity()).graph)
