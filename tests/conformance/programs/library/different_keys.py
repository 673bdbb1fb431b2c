"""One operator, implemented at another key in each interpreter; every call finds its own."""

import os
import random

import torch

chance = random.Random(os.urandom(8))


def autograd(keys, x):
    return torch.ops.conformance_keys.times.default.redispatch(keys & torch._C._after_autograd_keyset, x) * 1


for attempt in range(6):
    factor = float(chance.randint(2, 1000))
    kernel = lambda x: x * factor
    lib = torch.library.Library("conformance_keys", "FRAGMENT")
    lib.define("times(Tensor x) -> Tensor")
    ways = ["CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "CPU and Autograd", "default"]
    way = chance.choice(ways)
    if way == "CPU and Autograd":
        lib.impl("times", kernel, "CPU")
        lib.impl("times", autograd, "Autograd", with_keyset=True)
    elif way == "default":
        lib.impl("times", kernel)
    else:
        lib.impl("times", kernel, way)
    times = torch.ops.conformance_keys.times
    for step in range(200):
        x = torch.ones(3, requires_grad=step % 2 == 0)
        got = times(x)
        assert torch.equal(got, torch.full((3,), factor)), f"{got} instead of {factor} with a kernel for {way}"
        if way in ("CompositeImplicitAutograd", "default") and step % 2 == 0:
            (grad,) = torch.autograd.grad(got.sum(), x)
            assert torch.equal(grad, got), f"{grad} instead of {factor}"
    lib._destroy()
print("own kernel, wherever it is")
