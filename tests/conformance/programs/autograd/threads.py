"""backward() in several threads of one interpreter, sharing leaves."""

import threading

import torch
from showing import show

shared = torch.ones(4, requires_grad=True)
results = [None] * 6


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def work(index):
    own = torch.full((4,), float(index), requires_grad=True)
    for _ in range(20):
        (Double.apply(shared) * own).sum().backward()
    results[index] = own.grad


threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
show("own", results)
show("shared", shared.grad)
