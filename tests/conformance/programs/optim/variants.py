"""foreach, fused, capturable, maximize, differentiable and amsgrad variants."""

import torch
from showing import raised, show


def run(kind, **options):
    a = torch.nn.Parameter(torch.tensor([1.0, -2.0, 3.0]))
    b = torch.nn.Parameter(torch.tensor([[0.5]]))
    optimizer = kind([a, b], lr=0.05, **options)
    for _ in range(4):
        optimizer.zero_grad()
        ((a**2).sum() * b.sum().exp()).backward()
        optimizer.step()
    show(f"{kind.__name__} {options}", (a, b))


for kind in torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adagrad:
    for option in "foreach", "fused", "maximize":
        run(kind, **{option: True})
run(torch.optim.Adam, amsgrad=True, weight_decay=0.1)
run(torch.optim.SGD, momentum=0.9, nesterov=True, dampening=0)
raised("both", run, torch.optim.Adam, foreach=True, fused=True)
raised("lr", torch.optim.SGD, [torch.nn.Parameter(torch.ones(1))], lr=-1)
raised("empty", torch.optim.Adam, [])
raised("not a leaf", torch.optim.Adam, [torch.nn.Parameter(torch.ones(1)) * 2])
