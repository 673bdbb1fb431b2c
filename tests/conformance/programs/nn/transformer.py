"""Attention and transformer layers, with masks, fast path and SDPA backends."""

import torch
import torch.nn.functional as F
from showing import show
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.manual_seed(6)
attention = nn.MultiheadAttention(8, 2, batch_first=True)
x = torch.randn(2, 5, 8)
output, weights = attention(x, x, x, key_padding_mask=torch.tensor([[False] * 5, [False] * 3 + [True] * 2]))
show("attention", output)
show("weights", weights)
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
show("encoder", encoder(x, mask=nn.Transformer.generate_square_subsequent_mask(5), is_causal=True))
with torch.no_grad():
    show("fast path", encoder.eval()(x))
q, k, v = torch.randn(3, 1, 2, 6, 4).unbind()
for backend in SDPBackend.MATH, SDPBackend.FLASH_ATTENTION:
    with sdpa_kernel(backend):
        show(str(backend), F.scaled_dot_product_attention(q, k, v, is_causal=True))
show("decoder", nn.TransformerDecoderLayer(8, 2, 16, dropout=0.1)(x, x))
