"""Attention's kernels, convolutions, pooling, norms and embeddings on a GPU."""

import torch
from showing import show
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
q, k, v = (torch.randn(2, 4, 16, 64, device="cuda", dtype=torch.float16) for _ in range(3))
for backend in SDPBackend.MATH, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION:
    with sdpa_kernel(backend):
        show(backend.name, F.scaled_dot_product_attention(q, k, v, is_causal=True))
print(torch.backends.cuda.flash_sdp_enabled(), torch.backends.cudnn.deterministic)
images = torch.randn(2, 3, 32, 32, device="cuda")
weights = torch.randn(8, 3, 3, 3, device="cuda")
show("convolved", F.conv2d(images, weights, padding=1))
show("channels last", F.conv2d(images.to(memory_format=torch.channels_last), weights))
show("pooled", F.max_pool2d(images, 2))
show("normed", F.batch_norm(images, torch.zeros(3, device="cuda"), torch.ones(3, device="cuda"), training=True))
show("embedded", F.embedding(torch.tensor([1, 2, 1], device="cuda"), weights.reshape(8, -1)))
lstm = torch.nn.LSTM(4, 8, num_layers=2).cuda()
show("lstm", lstm(torch.ones(3, 2, 4, device="cuda"))[0])
before = torch.backends.cuda.matmul.allow_tf32
torch.backends.cuda.matmul.allow_tf32 = True
show("tf32", torch.randn(64, 64, device="cuda") @ torch.randn(64, 64, device="cuda"))
torch.backends.cuda.matmul.allow_tf32 = before
