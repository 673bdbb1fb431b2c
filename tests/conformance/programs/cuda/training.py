"""A small network trained on a GPU, whose backward passes run in a thread of the device's."""

import torch
from showing import show
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 4)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
inputs, targets = torch.randn(32, 8, device="cuda"), torch.arange(32, device="cuda") % 4
for step in range(12):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    show(f"loss {step}", loss)
show("weights", dict(model.named_parameters()))
model.eval()
with torch.inference_mode():
    show("result", model(inputs[:2]))
