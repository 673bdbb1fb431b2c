import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
for _ in range(50):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(loss, torch.jit.trace(model, x)(x[:2]), torch.linalg.svd(x).S)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=16)
print(sum(batch.sum() for (batch,) in loader))
