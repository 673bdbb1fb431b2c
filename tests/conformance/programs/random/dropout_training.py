"""A small model with dropout, trained from a seed."""

import torch
from showing import show

torch.manual_seed(42)
model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Dropout(0.3), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
losses = []
for _ in range(30):
    x = torch.randn(8, 4)
    loss = (model(x).squeeze() - x.sum(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(losses)
show("weights", dict(model.named_parameters()))
