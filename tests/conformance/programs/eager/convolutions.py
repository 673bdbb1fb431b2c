"""Convolutions, pooling, interpolation and padding."""

import torch
import torch.nn.functional as F
from showing import raised, show

x = (torch.arange(2 * 3 * 8 * 8) % 13 - 6).reshape(2, 3, 8, 8).to(torch.float32)
w = (torch.arange(4 * 3 * 3 * 3) % 7 - 3).reshape(4, 3, 3, 3).to(torch.float32)
show("conv2d", F.conv2d(x, w, stride=2, padding=1))
show("grouped", F.conv2d(x[:, :2], w[:, :1], groups=2, dilation=2))
show("transposed", F.conv_transpose2d(x[:, :3, :3, :3], w.transpose(0, 1), stride=2))
show("channels last", F.conv2d(x.to(memory_format=torch.channels_last), w))
show("max_pool", F.max_pool2d(x, 3, stride=2, return_indices=True)[1])
show("adaptive", F.adaptive_avg_pool2d(x, (2, 3)))
show("interpolate", F.interpolate(x, scale_factor=1.5, mode="nearest"))
show("pad", F.pad(x[:1, :1, :2, :2], (1, 2, 0, 1), value=9))
show("reflect", F.pad(x[:1, :1, :2, :3], (2, 1, 1, 1), mode="reflect"))
show("unfold", F.unfold(x[:1], 3).shape)
raised("channels", F.conv2d, x[:, :2], w)
