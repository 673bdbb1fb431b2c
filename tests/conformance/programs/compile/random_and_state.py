"""Compiled randomness, mutation of inputs, module state, in-place buffers."""

import torch
from showing import show

torch._dynamo.reset()


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(1))
        self.calls = 0

    def forward(self, x):
        self.n += x.sum()
        self.calls += 1
        x.mul_(2)
        return torch.nn.functional.dropout(x, 0.5, training=True) + self.n


module = Counter()
compiled = torch.compile(module, backend="aot_eager")
for seed in 1, 2, 1:
    torch.manual_seed(seed)
    x = torch.ones(6)
    show("result", compiled(x))
    show("x", x)
print(module.n, module.calls)
torch.manual_seed(5)
show("rand", torch.compile(lambda: torch.rand(3) + torch.randn(3), backend="eager")())
