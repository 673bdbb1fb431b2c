"""Autocast and gradient scaling on a GPU."""

import torch
from showing import show

torch.manual_seed(2)
model = torch.nn.Linear(8, 8, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda", init_scale=256.0, growth_interval=2)
x = torch.randn(4, 8, device="cuda")
for step in range(5):
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        y = model(x)
        loss = y.float().pow(2).mean()
    scaler.scale(loss).backward()
    if step == 3:
        model.weight.grad.fill_(float("inf"))
    scaler.step(optimizer)
    scaler.update()
    print(step, y.dtype, scaler.get_scale())
    show("loss", loss)
show("weight", model.weight)
with torch.autocast("cuda", dtype=torch.bfloat16):
    show("norm", torch.nn.functional.layer_norm(x, (8,)))
    show("product", x @ x.T)
print(torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda"))
