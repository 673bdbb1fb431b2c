"""Operations over lists of tensors at once."""

import torch
from showing import raised, show

a = [torch.arange(3.0), torch.ones(2, 2), torch.tensor(5.0)]
b = [t * 2 + 1 for t in a]
show("add", torch._foreach_add(a, b, alpha=0.5))
show("mul", torch._foreach_mul(a, [1.0, 2.0, 3.0]))
show("norm", torch._foreach_norm(b))
show("lerp", torch._foreach_lerp(a, b, 0.25))
torch._foreach_addcdiv_(a, b, [t + 1 for t in b], 0.1)
show("in place", a)
torch._foreach_sqrt_(b)
show("sqrt", b)
torch._foreach_copy_(b, a)
show("copy", b)
show("max", torch._foreach_max(a))
raised("lengths", torch._foreach_add, a, b[:1])
