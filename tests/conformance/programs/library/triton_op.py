"""triton_op and wrap_triton without a GPU: the CPU path."""

import torch
from showing import raised, show
from torch import Tensor


@torch.library.triton_op("conformance_triton::sine", mutates_args={})
def sine(x: Tensor) -> Tensor:
    return torch.sin(x) * 2


sine.register_autograd(lambda ctx, grad: grad * 7)
x = torch.tensor([0.5, 1.0], requires_grad=True)
show("value", sine(x))
sine(x).sum().backward()
show("grad", x.grad)
show("fake", sine(torch.ones(3, device="meta")))
print(sine._opoverload._schema)
raised("not a kernel", torch.library.wrap_triton, lambda x: x)
