"""The floating dtypes: rounding, limits, special values."""

import torch
from showing import show

values = [0.1, -1 / 3, 1e-8, 6e4, float("inf"), float("nan")]
for dtype in torch.float64, torch.float32, torch.float16, torch.bfloat16:
    x = torch.tensor(values, dtype=dtype)
    print(x)
    show("x + 1", x[:4] + 1)
    show("exp", x[:3].exp())
    show("sqrt", x[:1].sqrt())
    show("limits", (torch.finfo(dtype).eps, torch.finfo(dtype).max, torch.finfo(dtype).tiny))
    print(x.isfinite().tolist(), x.isnan().tolist(), x.nan_to_num(0.5, 2, 3).tolist())
    show("next", torch.tensor(1.0, dtype=torch.float64).to(dtype) + torch.finfo(dtype).eps)
