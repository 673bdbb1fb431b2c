"""no_grad, inference_mode, set_grad_enabled, as contexts and decorators."""

import threading

import torch
from showing import raised, show

x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    print((x * 2).requires_grad, torch.is_grad_enabled())
    with torch.enable_grad():
        print((x * 2).requires_grad)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
    thread.start()
    thread.join()
    print("another thread", seen)
with torch.inference_mode():
    y = x * 2
    print(y.is_inference(), y.requires_grad, torch.is_inference_mode_enabled())
raised("saved", lambda: (x * y).sum().backward())
raised("version", lambda: y._version)
show("cloned", (x * y.clone()).sum())


@torch.no_grad()
def f(t):
    return t + 1


print(f(x).requires_grad, [t.requires_grad for t in map(torch.no_grad()(lambda t: t * 2), [x])])
with torch.set_grad_enabled(False):
    print((x + 1).requires_grad)
with torch.autograd.grad_mode.set_multithreading_enabled(False):
    (x * 2).sum().backward()
show("grad", x.grad)
