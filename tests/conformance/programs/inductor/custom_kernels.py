"""inductor: operators it calls as they are, fallbacks, in-place updates, scatter, random."""

import torch
from showing import show

torch._dynamo.reset()


@torch.library.custom_op("conformance_inductor::reverse", mutates_args=())
def reverse(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy()[::-1].copy())


reverse.register_fake(lambda x: torch.empty_like(x))


@torch.compile
def f(x, index):
    y = reverse(x * 2) + 1
    z = torch.zeros(4).scatter_add(0, index, y)
    x.add_(1)
    return y, z, torch.sort(y).values, torch.linalg.norm(y) > 0


x = torch.arange(6.0)
show("f", f(x, torch.tensor([0, 1, 1, 3, 3, 3])))
show("x", x)
torch.manual_seed(3)
drawn = torch.compile(lambda: torch.nn.functional.dropout(torch.ones(100), 0.5))()
print(drawn.unique().tolist(), 20 < int((drawn == 0).sum()) < 80)
