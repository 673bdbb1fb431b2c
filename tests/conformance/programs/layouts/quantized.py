"""Quantized tensors and kernels."""

import torch
from showing import show

x = torch.tensor([[-1.0, 0.0, 0.55, 2.0], [0.1, 0.2, 0.3, 10.0]])
q = torch.quantize_per_tensor(x, 0.1, 10, torch.quint8)
show("quint8", q)
print(q.q_scale(), q.q_zero_point(), q.qscheme())
show("dequantized", q.dequantize())
show("qint8", torch.quantize_per_tensor(x, 0.05, 0, torch.qint8))
c = torch.quantize_per_channel(x, torch.tensor([0.1, 0.5], dtype=torch.float64), torch.tensor([0, 1]), 0, torch.qint8)
show("per channel", c)
show("scales", c.q_per_channel_scales())
show("add", torch.ops.quantized.add(q, q, 0.2, 5))
show("relu", torch.relu(q))
show("max_pool", torch.nn.functional.max_pool1d(q.unsqueeze(0), 2))
show("cat", torch.ops.quantized.cat([q, q], 0, 0.1, 3))
show("int_repr", q.int_repr())
show("fake", torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127))
try:
    q + q
except NotImplementedError as error:
    # It goes on with the backends that have a kernel, another interpreter's among them.
    print("plain add", str(error).split(" 'aten::add.out' is only available")[0])
