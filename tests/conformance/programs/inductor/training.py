"""inductor: a small model trained, with an optimizer step compiled too."""

import torch

torch._dynamo.reset()


def train(compiled):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = torch.compile(model) if compiled else model
    losses = []
    for _ in range(5):
        x = torch.randn(16, 4)
        loss = (step(x).squeeze(-1) - x.sum(1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


eager, compiled = train(False), train(True)
print(torch.allclose(eager, compiled, atol=1e-5), (eager[-1] < eager[0]).item())
