"""Recompiles: guards, limits, dynamic shapes, marked dimensions."""

import torch
from showing import raised, show

torch._dynamo.reset()
count = 0


def backend(module, inputs):
    global count
    count += 1
    return module.forward


def f(x, k):
    return x * k + x.shape[0]


for dynamic in None, True, False:
    torch._dynamo.reset()
    count = 0
    compiled = torch.compile(f, backend=backend, dynamic=dynamic)
    for size in 2, 3, 5, 7:
        compiled(torch.ones(size), 2)
    compiled(torch.ones(3), 3)
    compiled(torch.ones(3, dtype=torch.float64), 3)
    print("dynamic", dynamic, "compiled", count)
torch._dynamo.reset()
count = 0
x = torch.ones(4, 3)
torch._dynamo.mark_dynamic(x, 0)
compiled = torch.compile(f, backend=backend)
compiled(x, 2)
compiled(torch.ones(9, 3), 2)
print("marked", count)
torch._dynamo.reset()
with torch._dynamo.config.patch(recompile_limit=2, fail_on_recompile_limit_hit=True):
    limited = torch.compile(lambda x, n: x + n, backend="eager", dynamic=False)
    limited(torch.ones(1), 1)
    limited(torch.ones(1), 2)
    raised("limit", limited, torch.ones(1), 3)
torch._dynamo.reset()
with torch.compiler.set_stance("force_eager"):
    count = 0
    torch.compile(f, backend=backend)(torch.ones(2), 1)
    print("eager stance", count)
