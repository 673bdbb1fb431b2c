"""Every optimizer for a few steps."""

import torch
from showing import show

for name in (
    "ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam RAdam RMSprop Rprop SGD SparseAdam".split()
):
    torch.manual_seed(0)
    w = torch.nn.Parameter(torch.linspace(-1, 1, 6).reshape(2, 3))
    optimizer = getattr(torch.optim, name)([w], **({"lr": 0.1} if name in ("SGD", "Muon") else {}))

    def closure():
        optimizer.zero_grad()
        loss = (w**2).sum() + (w[0] * w[1]).sum()
        loss.backward()
        if name == "SparseAdam":
            w.grad = w.grad.to_sparse()
        return loss

    losses = [float(optimizer.step(closure)) for _ in range(5)]
    print(name, losses)
    show(name, w)
