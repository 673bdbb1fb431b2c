"""GradScaler on the CPU: scaling, skipped steps, growth, state."""

import torch
from showing import raised, show

torch.manual_seed(11)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
for step in range(6):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.randn(4, 3)).pow(2).mean()
    scaler.scale(loss).backward()
    if step == 3:
        model.weight.grad.fill_(float("inf"))
    scaler.unscale_(optimizer)
    before = model.weight.clone()
    scaler.step(optimizer)
    scaler.update()
    print(step, scaler.get_scale(), torch.equal(before, model.weight))
show("weight", model.weight)
print(scaler.state_dict())
(model(torch.ones(1, 3)) * 1).sum().backward()
scaler.unscale_(optimizer)
raised("twice", scaler.unscale_, optimizer)
