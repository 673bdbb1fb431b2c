"""cond, while_loop, scan and associative_scan of torch.higher_order, eagerly."""

import torch
from showing import raised, show
from torch._higher_order_ops import associative_scan, scan, while_loop

torch._dynamo.reset()
for value in 1.0, -1.0:
    show("cond", torch.cond(torch.tensor(value) > 0, lambda x: x.sin(), lambda x: x.cos(), (torch.ones(2),)))
show("while", while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (torch.tensor(0), torch.ones(2))))
show("scan", scan(lambda carry, x: (carry + x, carry * x), torch.zeros(2), torch.arange(6.0).reshape(3, 2)))
show("associative", associative_scan(torch.add, torch.arange(5.0), 0, combine_mode="generic"))
raised("pred", torch.cond, "yes", lambda x: x, lambda x: x, (torch.ones(1),))
