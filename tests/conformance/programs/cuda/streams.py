"""Streams, events, asynchronous copies and pinned memory."""

import torch
from showing import show

side = torch.cuda.Stream()
a = torch.arange(1000.0, device="cuda")
with torch.cuda.stream(side):
    side.wait_stream(torch.cuda.default_stream())
    b = a * 2
    b.record_stream(side)
    print(torch.cuda.current_stream() == side)
torch.cuda.current_stream().wait_stream(side)
show("sum", b.sum())
began, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
began.record()
for _ in range(20):
    a = (a + 1) * 0.5
ended.record()
ended.synchronize()
print(began.elapsed_time(ended) > 0, ended.query())
pinned = torch.arange(4.0).pin_memory()
print(pinned.is_pinned(), torch.empty(2, pin_memory=True).is_pinned(), torch.ones(2).is_pinned())
show("copied", pinned.to("cuda", non_blocking=True) + 1)
torch.cuda.synchronize()
show("a", a)
data = torch.utils.data.TensorDataset(torch.arange(8.0))
for (batch,) in torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True):
    show("batch", batch)
    print(batch.is_pinned())
print(torch.cuda.current_stream() == torch.cuda.default_stream())
