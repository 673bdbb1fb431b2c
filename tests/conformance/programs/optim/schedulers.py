"""Learning rate schedules."""

import warnings

import torch
from torch.optim import lr_scheduler as s

warnings.simplefilter("ignore")


def rates(make, steps=8, metric=None):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0, momentum=0.9)
    scheduler = make(optimizer)
    seen = []
    for step in range(steps):
        optimizer.step()
        scheduler.step(*([] if metric is None else [metric(step)]))
        seen.append(optimizer.param_groups[0]["lr"])
    return seen


for name, make in {
    "step": lambda o: s.StepLR(o, 3), "multi": lambda o: s.MultiStepLR(o, [2, 5]), "exp": lambda o: s.ExponentialLR(o, 0.9),
    "cosine": lambda o: s.CosineAnnealingLR(o, 5), "restarts": lambda o: s.CosineAnnealingWarmRestarts(o, 3),
    "cyclic": lambda o: s.CyclicLR(o, 0.1, 1.0, 2), "one": lambda o: s.OneCycleLR(o, 2.0, total_steps=9),
    "linear": lambda o: s.LinearLR(o), "poly": lambda o: s.PolynomialLR(o, 6), "lambda": lambda o: s.LambdaLR(o, lambda e: 1 / (e + 1)),
    "chain": lambda o: s.ChainedScheduler([s.ConstantLR(o), s.ExponentialLR(o, 0.5)]),
    "sequence": lambda o: s.SequentialLR(o, [s.ConstantLR(o), s.ExponentialLR(o, 0.5)], [4]),
}.items():
    print(name, rates(make))
print("plateau", rates(lambda o: s.ReduceLROnPlateau(o, patience=1), metric=lambda step: 1.0))
