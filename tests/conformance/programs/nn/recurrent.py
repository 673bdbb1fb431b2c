"""Recurrent layers: packed sequences, bidirectional, cells, projections."""

import torch
from showing import show
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(4)
for layer in nn.RNN(3, 4, 2), nn.GRU(3, 4, bidirectional=True), nn.LSTM(3, 4, 2, batch_first=True, proj_size=2):
    x = torch.randn(5, 2, 3, requires_grad=True)
    output, state = layer(x)
    output.sum().backward()
    show(type(layer).__name__, output)
    show("state", state)
    show("grad", x.grad)
packed = pack_sequence([torch.ones(3, 3), torch.ones(2, 3) * 2])
output, lengths = pad_packed_sequence(nn.GRU(3, 2)(packed)[0])
show("packed", output)
print(lengths, packed.batch_sizes, pad_sequence([torch.ones(2), torch.ones(1)], padding_value=-1).tolist())
show("again", pack_padded_sequence(torch.ones(2, 2, 1), torch.tensor([2, 1])).data)
show("cell", nn.LSTMCell(3, 2)(torch.ones(1, 3)))
