"""make_fx: real, fake and symbolic traces with decompositions."""

import torch
from showing import show
from torch._decomp import get_decompositions
from torch.fx.experimental.proxy_tensor import make_fx

f = lambda x: torch.nn.functional.gelu(x).view(-1)[: x.shape[0] * 2].sum()
x = torch.linspace(-1, 1, 6).reshape(2, 3)
for mode in "real", "fake", "symbolic":
    traced = make_fx(f, tracing_mode=mode)(x)
    print(mode, traced.code)
    show("same", traced(x))
show("other size", traced(torch.linspace(-1, 1, 12).reshape(4, 3)))
decomposed = make_fx(f, decomposition_table=get_decompositions([torch.ops.aten.gelu.default]))(x)
print(decomposed.code)
