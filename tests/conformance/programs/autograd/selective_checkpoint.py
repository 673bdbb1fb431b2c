"""Selective checkpointing by policy."""

import torch
from showing import show
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

seen = []


def policy(context, op, *args, **kwargs):
    seen.append((str(op), context.is_recompute))
    return CheckpointPolicy.MUST_SAVE if op is torch.ops.aten.mm.default else CheckpointPolicy.PREFER_RECOMPUTE


x = torch.linspace(-1, 1, 6).reshape(2, 3).requires_grad_()
w = torch.linspace(0, 2, 9).reshape(3, 3).requires_grad_()
y = checkpoint(
    lambda a, b: (a @ b).sigmoid() @ b, x, w, use_reentrant=False, context_fn=lambda: create_selective_checkpoint_contexts(policy)
)
y.sum().backward()
show("x", x.grad)
show("w", w.grad)
for entry in seen:
    print(entry)
