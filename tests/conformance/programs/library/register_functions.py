"""register_kernel, register_fake, register_autograd, register_vmap, register_torch_dispatch on defined operators."""

import torch
from showing import raised, show
from torch.utils._python_dispatch import TorchDispatchMode

with torch.library._scoped_library("conformance_functions", "FRAGMENT") as lib:
    torch.library.define("conformance_functions::twice", "(Tensor x) -> Tensor", lib=lib)
    try:
        torch.ops.conformance_functions.twice(torch.ones(1))
    except NotImplementedError as error:
        print("no kernel", "conformance_functions::twice" in str(error))
    torch.library.impl("conformance_functions::twice", "cpu", lambda x: x * 2, lib=lib)
    torch.library.register_fake("conformance_functions::twice", lambda x: torch.empty_like(x), lib=lib)
    torch.library.register_autograd("conformance_functions::twice", lambda ctx, g: g * 20, lib=lib)
    torch.library.register_vmap("conformance_functions::twice", lambda info, dims, x: (x * 200, dims[0]), lib=lib)
    twice = torch.ops.conformance_functions.twice
    x = torch.ones(2, requires_grad=True)
    show("value", twice(x))
    twice(x).sum().backward()
    show("grad", x.grad)
    show("vmap", torch.vmap(twice)(torch.ones(2, 2)))

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    torch.library.register_torch_dispatch(
        "conformance_functions::twice", Mode, lambda mode, func, types, args, kwargs: torch.full((1,), -1.0), lib=lib
    )
    with Mode():
        show("mode", twice(torch.ones(2)))
    torch.library.register_autocast("conformance_functions::twice", "cpu", torch.bfloat16, lib=lib)
    with torch.autocast("cpu"):
        show("autocast", twice(torch.ones(2)))
raised("gone", lambda: torch.ops.conformance_functions.twice(torch.ones(1)))
