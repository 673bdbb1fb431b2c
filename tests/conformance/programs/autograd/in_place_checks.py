"""What autograd says about tensors changed under its feet."""

import torch
from showing import raised, show


def changed_since(what, backward):
    try:
        backward()
    except RuntimeError as error:
        # The hint behind it tells of anomaly mode in the whole process: docs/architecture.md.
        message, hint, _ = str(error).partition(" Hint: ")
        print(f"{what}: {message} ({bool(hint)})")


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
y.add_(1)
changed_since("saved output", y.sum().backward)
w = torch.ones(2)
z = x * w
w.mul_(2)
changed_since("saved input", z.sum().backward)
raised("leaf", lambda: x.add_(1))
raised("view of a leaf", lambda: x[0].zero_())
v = (x * 2).view(2, 1)
v[0].mul_(5)
v.sum().backward()
show("through a view", x.grad)
a, b = (x * 2).unbind()
raised("multi-view", lambda: a.mul_(2))
with torch.no_grad():
    x.add_(1)
show("without graph", x)
x.data.zero_()
print(x._version, x.tolist())
with torch.autograd._unsafe_preserve_version_counter(w):
    w.add_(1)
print(w._version)
