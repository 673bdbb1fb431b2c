"""Operators of torch.library on a GPU, modes and subclasses around its kernels."""

import torch
from showing import show
from torch.utils._python_dispatch import TorchDispatchMode


@torch.library.custom_op("cuda_operators::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x.clone() + x


@twice.register_kernel("cuda")
def _(x):
    return x * 2 + 0


twice.register_autograd(lambda context, gradient: gradient * 2)
twice.register_fake(torch.empty_like)
x = torch.arange(4.0, device="cuda", requires_grad=True)
twice(x).pow(2).sum().backward()
show("gradient", x.grad)
show("on the CPU", twice(torch.ones(2)))
show("compiled", torch.compile(twice, backend="aot_eager")(torch.ones(3, device="cuda")))


class Seen(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        print("seen", function, sorted(named or {}))
        return function(*arguments, **(named or {}))


torch.manual_seed(3)
with Seen():
    y = torch.rand(3, device="cuda")
    z = torch.randn(2, device="cuda", generator=torch.cuda.default_generators[0])
    z = y.exponential_(1.0, generator=torch.cuda.default_generators[0])
show("drawn", z)
with torch._subclasses.FakeTensorMode():
    fake = torch.empty(4, 5, device="cuda") @ torch.empty(5, 6, device="cuda")
    print(fake.device, fake.shape)
