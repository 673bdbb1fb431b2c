"""Kernels put over aten's, with the original reached by redispatch."""

import torch
from showing import show

calls = []
with torch.library._scoped_library("aten", "IMPL") as lib:

    def softplus(keys, x, beta=1, threshold=20):
        calls.append(tuple(x.shape))
        result = torch.ops.aten.softplus.default.redispatch(keys & torch._C._after_autograd_keyset, x, beta, threshold)
        return result * 100

    lib.impl("softplus", softplus, "AutogradCPU", with_keyset=True)
    show("over", torch.nn.functional.softplus(torch.zeros(2, requires_grad=True)))
    show("others", torch.nn.functional.elu(torch.zeros(2)))
print(calls)
show("original", torch.nn.functional.softplus(torch.zeros(2)))
