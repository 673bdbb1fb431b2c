"""A fallback kernel for all operators of a key, and fallthrough."""

import threading

import torch
from showing import show
from torch.library import fallthrough_kernel

seen = []
key, cpu = torch._C.DispatchKey.PrivateUse3, torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
x = torch.ones(2)
with torch.library._scoped_library("_", "IMPL") as lib:

    def fallback(op, *args, **kwargs):
        seen.append(str(op))
        return op.redispatch(cpu, *args, **kwargs)

    lib.fallback(fallback, "PrivateUse3")

    def call():
        with torch.no_grad(), torch._C._IncludeDispatchKeyGuard(key):
            result = x.exp().neg()
        show("result", result)

    # torch 2.6's guard leaves a part of the key behind in its thread.
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
print(seen)
with torch.library._scoped_library("conformance_fall", "DEF") as lib:
    lib.define("same(Tensor x) -> Tensor")
    lib.impl("same", fallthrough_kernel, "AutogradCPU")
    lib.impl("same", lambda x: x.clone(), "CPU")
    show("through", torch.ops.conformance_fall.same(torch.ones(1, requires_grad=True)))
