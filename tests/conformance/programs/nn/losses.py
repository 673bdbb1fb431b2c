"""Loss functions and their gradients."""

import torch
from showing import raised, show
from torch import nn

torch.manual_seed(9)
logits = torch.randn(4, 3)
classes = torch.tensor([0, 2, 1, 1])
values = torch.rand(4, 3)
for loss, target in [
    (nn.CrossEntropyLoss(label_smoothing=0.1), classes), (nn.CrossEntropyLoss(ignore_index=1), classes),
    (nn.MSELoss(), values), (nn.L1Loss(reduction="sum"), values), (nn.SmoothL1Loss(), values), (nn.HuberLoss(), values),
    (nn.BCEWithLogitsLoss(), values), (nn.KLDivLoss(reduction="batchmean"), values), (nn.MultiMarginLoss(), classes),
    (nn.PoissonNLLLoss(), values), (nn.MultiLabelSoftMarginLoss(), values.round()),
]:
    x = logits.clone().requires_grad_()
    result = loss(x, target)
    result.backward()
    show(type(loss).__name__, result)
    show("grad", x.grad)
show("ctc", nn.CTCLoss()(logits.log_softmax(1)[:, None], torch.tensor([[1, 2]]), torch.tensor([4]), torch.tensor([2])))
show("triplet", nn.TripletMarginLoss()(values[:1], values[1:2], values[2:3]))
raised("class", nn.CrossEntropyLoss(), logits, classes + 5)
raised("shape", nn.NLLLoss(), logits, classes[:2])
