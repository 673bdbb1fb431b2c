"""CPU autocast: dtypes, nesting, disabling, caching, decorators."""

import torch
from showing import show

a, b = torch.linspace(-1, 1, 6).reshape(2, 3), torch.linspace(0, 1, 6).reshape(3, 2)
for dtype in torch.bfloat16, torch.float16:
    with torch.autocast("cpu", dtype=dtype):
        print(torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
        show("mm", a @ b)
        show("add", a + a)
        show("loss", torch.nn.functional.mse_loss((a @ b), torch.ones(2, 2)))
        with torch.autocast("cpu", enabled=False):
            show("off", a @ b)
        show("double", a.double() @ b.double())


@torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
def f(x):
    return x.dtype, torch.is_autocast_enabled("cpu")


with torch.autocast("cpu"):
    print(f(a.bfloat16()))
    model = torch.nn.Linear(3, 2)
    y = model(a)
    y.float().sum().backward()
    print(y.dtype, model.weight.grad.dtype, torch.is_autocast_cache_enabled())
print(torch.is_autocast_enabled("cpu"), torch.autocast("cpu")(lambda: torch.get_autocast_dtype("cpu"))())
