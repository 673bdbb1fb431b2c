"""Dynamic quantization of a model."""

import torch
from showing import show

torch.backends.quantized.engine = "fbgemm"
model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)).eval()
with torch.no_grad():
    for parameter in model.parameters():
        parameter.copy_(torch.linspace(-1, 1, parameter.numel()).reshape(parameter.shape))
quantized = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, torch.qint8)
x = torch.linspace(-1, 1, 12).reshape(2, 6)
print(quantized)
show("float", model(x))
show("quantized", quantized(x))
show("weight", quantized[0].weight())
print(list(quantized.state_dict()))
