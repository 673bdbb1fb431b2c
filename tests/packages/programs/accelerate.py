import tempfile

import accelerate
import torch

accelerate.utils.set_seed(0)
accelerator = accelerate.Accelerator(cpu=True)
x = torch.randn(64, 4)
data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(data, batch_size=16))
for _ in range(5):
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
print(loss.item(), accelerator.num_processes, accelerator.device, accelerator.gather(loss.detach()))
with tempfile.TemporaryDirectory() as folder:
    accelerator.save_model(model, folder)
    with accelerate.init_empty_weights():
        empty = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    print({p.device.type for p in empty.parameters()})
    print(accelerate.infer_auto_device_map(empty, max_memory={"cpu": 10**9}))
    again = accelerate.load_checkpoint_and_dispatch(empty, folder, device_map={"": "cpu"})
print(torch.equal(again(x), accelerator.unwrap_model(model)(x)))
offloaded = accelerate.cpu_offload(again, torch.device("cpu"))
print(torch.equal(offloaded(x), model(x)))
