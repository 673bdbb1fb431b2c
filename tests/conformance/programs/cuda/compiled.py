"""torch.compile on a GPU: kernels by Triton, backward passes, CUDA graphs, changing shapes."""

import torch
from showing import show

torch.manual_seed(0)


def f(x, y):
    return torch.nn.functional.gelu(x @ y).softmax(-1) + x.sin().sum()


x, y = torch.randn(16, 32, device="cuda"), torch.randn(32, 8, device="cuda")
compiled = torch.compile(f)
print(torch.allclose(compiled(x, y), f(x, y), atol=1e-4))
print(torch.allclose(compiled(x[:5], y), f(x[:5], y), atol=1e-4))

model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.LayerNorm(16), torch.nn.Linear(16, 2)).cuda()
trained = torch.compile(model)
trained(torch.ones(4, 8, device="cuda")).sum().backward()
found = [p.grad.clone() for p in model.parameters()]
model.zero_grad()
model(torch.ones(4, 8, device="cuda")).sum().backward()
print([torch.allclose(a, p.grad, atol=1e-4) for a, p in zip(found, model.parameters())])


@torch.compile(mode="reduce-overhead")
def g(x):
    return (x * 2).relu() + 1


with torch.inference_mode():
    for value in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        show(f"as a graph {value}", g(torch.full((4,), float(value), device="cuda")))
